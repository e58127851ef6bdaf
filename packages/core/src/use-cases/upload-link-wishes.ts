/** What the maker of a link to upload has set. */
export interface UploadWishes {
  /** How many of the first code units of a name are signed; the rest is the uploader's choice. `undefined`: the whole name. */
  readonly prefixLength?: number
  /** How many files there may be whose names begin so. */
  readonly maxFiles?: number
  /** The largest file in bytes. */
  readonly maxSize?: number
  /** Whether an upload may replace a file. */
  readonly replace: boolean
}

const form = /^(?:p([1-9]\d{0,2})n([1-9]\d{0,4}))?(?:s([1-9]\d{0,15}))?(r?)$/u

/** The one text that says these wishes. */
export function writeUploadWishes(wishes: UploadWishes): string {
  const { prefixLength, maxFiles, maxSize, replace } = wishes
  const prefix = prefixLength === undefined ? '' : `p${prefixLength}n${maxFiles}`
  const size = maxSize === undefined ? '' : `s${maxSize}`
  return `${prefix}${size}${replace ? 'r' : ''}`
}

/** The wishes that `text` says; `undefined` if it is none of {@link writeUploadWishes}. */
export function readUploadWishes(text: string): UploadWishes | undefined {
  const [whole, prefixLength, maxFiles, maxSize, replace] = form.exec(text) ?? []
  if (whole === undefined) return undefined
  return {
    ...(prefixLength !== undefined && { prefixLength: Number(prefixLength) }),
    ...(maxFiles !== undefined && { maxFiles: Number(maxFiles) }),
    ...(maxSize !== undefined && { maxSize: Number(maxSize) }),
    replace: replace === 'r',
  }
}
