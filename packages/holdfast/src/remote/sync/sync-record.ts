/** A file that was the same here and on the server. */
export interface SyncRecord {
  readonly name: string
  readonly size: number
  /** The version of the local file; '' if it may have changed since without another version. */
  readonly version: string
  /** Of the content, in hexadecimal. */
  readonly sha256: string
  /** The file's version on the server. */
  readonly etag: string
}

/** A line of the state; `undefined` for one that was cut off or is damaged. */
export function parseRecord(line: string): SyncRecord | undefined {
  try {
    const { name, size, version, sha256, etag } = JSON.parse(line) as Partial<SyncRecord>
    const isWhole =
      typeof name === 'string' &&
      typeof size === 'number' &&
      typeof version === 'string' &&
      typeof sha256 === 'string' &&
      typeof etag === 'string'
    return isWhole ? { name, size, version, sha256, etag } : undefined
  } catch {
    return undefined
  }
}
