import type { BlobInfo } from './blob-info.ts'
import type { ByteRange, RangeRequest } from './byte-range.ts'

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

/**
 * Whether a call keeps what it replaces or deletes, in the store's `history`. A blob is kept for certain if every change that took its
 * name from it, and every one that gave it the name, had this. Stores without `history` ignore it.
 */
export interface KeepOptions {
  /** Default: no; what is replaced or deleted is gone. A store whose medium keeps all versions itself may keep it anyway. */
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
