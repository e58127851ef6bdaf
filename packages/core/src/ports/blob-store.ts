import type { BlobInfo } from './blob-info.ts'
import type { ByteRange, RangeRequest } from './byte-range.ts'
import type { ResumableUploads } from './resumable-uploads.ts'

/**
 * Where a blob lives: a customer's name and a file's name. Both have passed the policy of `model/file-name.ts`: 1 to
 * 255 bytes of UTF-8, no `/`, no control character, neither `.` nor `..`; anything else may occur. Two keys are the
 * same blob only when both names are equal code unit by code unit: case, Unicode normalisation and trailing spaces
 * make a difference, on every operating system.
 */
export interface BlobKey {
  readonly customer: string
  readonly name: string
}

export interface PutOptions {
  /** Store only if the name is free, race-free among any number of puts. Default: replace. */
  readonly createOnly?: boolean
  readonly signal?: AbortSignal
  /**
   * The store may call it with a chunk that it has copied or written; the bytes of the chunk may be overwritten from then
   * on. A store need not call it, and calls it at most once for each chunk. Default: none.
   */
  readonly release?: (chunk: Uint8Array) => void
  /**
   * A store that can read what it has taken of the content may call it, before it asks for the first chunk, with a function
   * that does so: it gives all bytes of the chunks so far, each piece to be used before the next one is asked for. The caller
   * uses it only while the store waits for a chunk or for the end. Default: none.
   */
  readonly onReadable?: (readBack: () => AsyncIterable<Uint8Array>) => void
}

export interface OpenOptions {
  /** Default: the whole blob. */
  readonly range?: RangeRequest
  /**
   * Whether the bytes of a chunk may be overwritten once the next chunk is asked for or the reading ends, however it
   * does, which lets a store read into few buffers. Default: no, a chunk is the reader's for good.
   */
  readonly reuseChunks?: boolean
}

/** A blob opened for reading. It must be read or closed, or it holds resources. */
export interface OpenBlob {
  readonly info: BlobInfo
  /** What `content` yields; the whole blob when no range was asked for; `undefined` when the range selects no byte. */
  readonly range: ByteRange | undefined
  /**
   * The bytes of `range`, in order, in chunks of the store's choosing; nothing when `range` is `undefined`. Iterated at
   * most once. Yields exactly `range.length` bytes or throws: it never ends short. Reads as the reader does, no further
   * ahead than a buffer. When the iteration ends, fails or is stopped early, everything held is released.
   */
  readonly content: AsyncIterable<Uint8Array>
  /**
   * The same bytes, if the store has them in memory already, as it may with small blobs; a caller who takes them need not
   * iterate `content`. They do not change, and the caller must not change them: other readers may share them.
   */
  readonly bytes?: Uint8Array
  /** Releases what is held, whether or not `content` was read; may be called again, and after reading. */
  close(): Promise<void>
}

export interface ListOptions {
  /** Only names that begin with this string, compared code unit by code unit. Default: all. */
  readonly prefix?: string
  /** Only names greater than this one, which need not exist. Default: from the first. */
  readonly after?: string
  /** At most so many entries, 1 or more, on all pages together. Default: all. */
  readonly limit?: number
}

export interface Usage {
  /** How many blobs. */
  readonly blobs: number
  /** The sum of their sizes in bytes. */
  readonly bytes: number
}

/**
 * Keeps blobs, and only that: names, limits, quota and permission are the core's business and have been judged before
 * a store is called. Every sentence here is a test in `@holdfast/contract`.
 *
 * A store rejects with a `FileServiceError` where the condition is one of these and certain: `already-exists`,
 * `insufficient-storage` (full, or its own quota used up), `file-too-large` (more than it can keep in one blob, however
 * empty it is), `store-unavailable` (cannot be reached, or not in time). Every other failure comes through as it is; the
 * core reports it as a fault. Absence is never an error.
 */
export interface BlobStore {
  /**
   * Stores `content` under `key`, in place of any earlier blob.
   *
   * Given: `content` is iterated at most once; a chunk may be empty and is not altered after it was yielded; an end of
   * the iteration means that the content is complete, everything else ends by throwing.
   *
   * Promised: content is taken one chunk at a time, as it can be written, so that memory stays bounded. The blob
   * becomes visible in one step, after the content has ended: a reader finds the earlier blob or the whole new one.
   * When the promise resolves, the blob survives a crash of the process and of the machine. If the content throws, or
   * the signal aborts, the call rejects with that very error, at once even when the content is stalled; the earlier
   * blob stays as it was and nothing of the new one remains. A chunk that is not a `Uint8Array` is refused by a
   * `TypeError`, likewise without a trace: `requireBytes` knows. If the store fails or refuses, or the signal aborts, the
   * content's iterator is closed. Puts of one key do not wait for each other's content. Of several puts of one key
   * each either succeeds whole or fails without a trace; of several create-only puts exactly one succeeds, and the
   * others reject with `already-exists`. An abort after the promise has settled does nothing.
   *
   * The one thing that cannot be promised: when publishing itself fails half-way (power cut, lost connection), the call
   * rejects and afterwards the blob is the earlier one or the new one, whole.
   */
  put(key: BlobKey, content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<BlobInfo>

  /**
   * Opens a blob for reading; `undefined` if there is none. What was opened stays readable to its end even if the blob
   * is replaced or deleted meanwhile, and `info` describes the very bytes that `content` yields.
   */
  open(key: BlobKey, options?: OpenOptions): Promise<OpenBlob | undefined>

  /** What is known of a blob; `undefined` if there is none. */
  stat(key: BlobKey): Promise<BlobInfo | undefined>

  /**
   * Removes a blob. `true` once it is gone for good, crash or not; `false` if there was none. Of several calls at once for
   * one blob exactly one is `true`. Only where the calls come through different openings of the data, such as those of
   * several servers, more than one may be `true`: not every medium says which deletion has found the blob. A store that has a
   * service keep its data says in its documentation where a crash of that service can bring blobs back.
   */
  delete(key: BlobKey): Promise<boolean>

  /**
   * The names of a customer's blobs in ascending order of their UTF-8 bytes (which is not JavaScript's order of
   * strings), in pages of the store's choosing: each has 1 to 1,024 names and is not altered after it was yielded.
   * Nothing for a customer without blobs. A blob that is there during the whole iteration occurs exactly once; one that
   * comes or goes meanwhile may occur or not. A list of fewer entries than its limit has reached the last name. Only
   * whole, published blobs occur.
   */
  list(customer: string, options?: ListOptions): AsyncIterable<readonly string[]>

  /**
   * What is known of a customer's blobs, in the order and pages of `list`, with the same promises. Each entry describes one
   * published blob, as `stat` would have at some moment of the iteration; that of a blob which is replaced meanwhile
   * describes the earlier one or the new one.
   */
  listDetails(customer: string, options?: ListOptions): AsyncIterable<readonly BlobInfo[]>

  /** How much a customer keeps; zeros for a customer without blobs. May take as long as a listing. */
  usage(customer: string): Promise<Usage>

  /**
   * The names of all customers who keep a blob, in ascending order of their UTF-8 bytes, each once. One who comes or
   * goes meanwhile may occur or not; so may one without blobs, since a store need not forget who had some.
   */
  customers(): AsyncIterable<string>

  /** Uploads that come in pieces, where the store can keep them. */
  readonly resumable?: ResumableUploads
}
