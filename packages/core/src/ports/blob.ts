/**
 * The key of a blob: a customer's name and a file's name. The core has checked both by the policy of `model/file-name.ts`: 1 to
 * 255 bytes of UTF-8, no `/`, no control character, neither `.` nor `..`; anything else may occur. Two keys mean the same blob
 * only if both names are equal code unit by code unit: case, Unicode normalisation and trailing spaces make a difference, on
 * every operating system.
 */
export interface BlobKey {
  readonly customer: string
  readonly name: string
}

/** What a store knows about a blob without reading it. */
export interface BlobInfo {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** When the blob was stored, by the store's clock. */
  readonly modifiedAt: Date
  /**
   * A strong validator (RFC 9110 §8.8.1), without the quotes: printable ASCII except `"`. Two blobs with different content under
   * the same key never have the same etag, and the etag of a blob never changes. (Two blobs with the same content may have the
   * same etag, for example in stores that derive it from the content.)
   */
  readonly etag: string
}

/**
 * Whether a call keeps the blob that it replaces or deletes, in the store's `history`. A blob is kept for certain if every change that
 * took its name from it, and every one that gave it the name, had this. Stores without `history` ignore it.
 */
export interface KeepOptions {
  /** Default: no; the blob is gone. A store whose medium keeps all versions itself may keep it anyway. */
  readonly keepReplaced?: boolean
}

export interface RenameOptions {
  /** Rename the blob only if the new name is free; this holds also among concurrent puts and renames. Default: replace. */
  readonly createOnly?: boolean
}

export interface OpenOptions {
  /** Default: the whole blob. */
  readonly range?: RangeRequest
  /**
   * Whether the store may overwrite the bytes of a chunk when the reader asks for the next chunk or stops reading, so that it can
   * reuse a few buffers. Default: no, a chunk never changes.
   */
  readonly reuseChunks?: boolean
}

/** A blob opened for reading. The caller must read or close it: otherwise it keeps resources. */
export interface OpenBlob {
  readonly info: BlobInfo
  /** The range that `content` yields: the whole blob if no range was asked for; `undefined` if the range selects no byte. */
  readonly range: ByteRange | undefined
  /**
   * The bytes of `range`, in order, in chunks whose size the store chooses; nothing when `range` is `undefined`. The caller iterates
   * it at most once. It yields exactly `range.length` bytes or throws: it never ends early. It reads at most one buffer ahead of
   * the reader. When the iteration ends, fails or is stopped early, all resources are released.
   */
  readonly content: AsyncIterable<Uint8Array>
  /**
   * The same bytes, if the store has them in memory already, for example those of a small blob. A caller that takes them need not
   * iterate `content`. They do not change, and the caller must not change them: other readers may share them.
   */
  readonly bytes?: Uint8Array
  /** Releases the resources, whether `content` was read or not. It may be called again, and after reading. */
  close(): Promise<void>
}

export interface ListOptions {
  /** Only names that begin with this string, compared code unit by code unit. Default: all. */
  readonly prefix?: string
  /** Only names greater than this one, which need not exist. Default: from the first. */
  readonly after?: string
  /** The most entries on all pages together, 1 or more. Default: all. */
  readonly limit?: number
}

export interface Usage {
  /** How many blobs. */
  readonly blobs: number
  /** The sum of their sizes in bytes. */
  readonly bytes: number
}

/**
 * The bytes that a reader asks for, before the size is known (RFC 9110 §14.1.2): either from `first` to `last`, both inclusive and
 * counted from 0, or to the end if `last` is absent or beyond the end; or the last `suffixLength` bytes.
 */
export type RangeRequest =
  | { readonly first: number; readonly last?: number }
  | { readonly suffixLength: number }

/** Bytes `offset` to `offset + length - 1` of a blob. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/**
 * The bytes that `request` selects in a blob of `size` bytes; all bytes without a request. `undefined` if the request selects no
 * byte, which RFC 9110 §15.5.17 calls unsatisfiable. A suffix longer than the blob selects the whole blob.
 */
export function resolveRange(
  request: RangeRequest | undefined,
  size: number,
): ByteRange | undefined {
  if (request === undefined) return { offset: 0, length: size }
  if ('suffixLength' in request) {
    const length = Math.min(request.suffixLength, size)
    return length > 0 ? { offset: size - length, length } : undefined
  }
  const last = Math.min(request.last ?? Infinity, size - 1)
  return request.first <= last
    ? { offset: request.first, length: last - request.first + 1 }
    : undefined
}
