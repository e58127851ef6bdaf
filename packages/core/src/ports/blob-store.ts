import type {
  BlobInfo,
  BlobKey,
  KeepOptions,
  ListOptions,
  OpenBlob,
  OpenOptions,
  RenameOptions,
  Usage,
} from './blob.ts'
import type { Expiry, History, LinkGenerations } from './store-capabilities.ts'
import type { ResumableUploads } from './resumable-uploads.ts'

export interface PutOptions extends KeepOptions {
  /** Store the blob only if the name is free; this holds also among concurrent puts. Default: replace. */
  readonly createOnly?: boolean
  readonly signal?: AbortSignal
  /**
   * The store may call this with a chunk that it has copied or written; from then on, the caller may overwrite the bytes of the
   * chunk. A store need not call it, and calls it at most once for each chunk. Default: none.
   */
  readonly release?: (chunk: Uint8Array) => void
  /**
   * Before it asks for the first chunk, a store may call this with a function `readBack`, which reads all bytes of the chunks that
   * the store has taken so far. A piece from `readBack` must be used before the next one is asked for. The caller calls `readBack`
   * only while the store waits for a chunk or for the end. Default: none.
   */
  readonly onReadable?: (readBack: () => AsyncIterable<Uint8Array>) => void
}

/**
 * Keeps blobs, and does nothing else: the core checks names, limits, quota and permission before it calls a store. Every sentence
 * here is a test in `@holdfast/contract`.
 *
 * A store rejects with a `FileServiceError` if it is certain that one of these is the cause: `already-exists`,
 * `insufficient-storage` (the store is full, or its own quota is used up), `file-too-large` (more than the store can keep in one
 * blob, even if it is empty), `store-unavailable` (it cannot be reached, or not in time). Every other error is passed on unchanged;
 * the core reports it as an unexpected error. That a blob does not exist is never an error.
 */
export interface BlobStore {
  /**
   * Stores `content` under `key`, and replaces an earlier blob.
   *
   * Callers guarantee: `content` can be iterated once; a chunk may be empty, and does not change after it was yielded; if the
   * iteration ends, the content is complete; if the content is incomplete, the iteration throws.
   *
   * Stores promise: the store iterates `content` at most once, and takes one chunk at a time, as fast as it can write, so that
   * memory stays bounded. The blob becomes visible in one step, after the content has ended: a reader finds either the earlier
   * blob or the whole new one. When the promise resolves, the blob survives a crash of the process and of the machine. If the
   * content throws, or the signal aborts, the call rejects at once with that very error, even while the content is stalled; the
   * earlier blob stays unchanged, and nothing of the new one remains. The same happens, with a `TypeError`, for a chunk that is not
   * a `Uint8Array`; `requireBytes` checks that. If the store fails or refuses, or the signal aborts, it closes the content's
   * iterator. Puts of one key do not wait for each other's content. Of several puts of one key, each succeeds completely or fails
   * without a trace; of several create-only puts, exactly one succeeds, and the others reject with `already-exists`. An abort after
   * the promise has settled does nothing.
   *
   * One thing cannot be promised: if the publication itself fails half-way (power cut, lost connection), the call rejects, and the
   * blob is afterwards either the earlier one or the whole new one.
   */
  put(key: BlobKey, content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<BlobInfo>

  /**
   * Opens a blob for reading; `undefined` if there is none. An opened blob stays readable to its end even if it is replaced or
   * deleted meanwhile, and `info` describes exactly the bytes that `content` yields.
   */
  open(key: BlobKey, options?: OpenOptions): Promise<OpenBlob | undefined>

  /** The {@link BlobInfo} of a blob; `undefined` if there is none. */
  stat(key: BlobKey): Promise<BlobInfo | undefined>

  /**
   * Deletes a blob. Resolves with `true` when it is deleted durably, so that no crash brings it back; with `false` if there was
   * none. Of several concurrent calls for one blob, exactly one resolves with `true`. Only if the calls use different openings of
   * the data, such as those of several servers, more than one may: not every medium shows which deletion has found the blob. A
   * store that keeps its data in another service documents when a crash of that service can bring blobs back.
   */
  delete(key: BlobKey, options?: KeepOptions): Promise<boolean>

  /**
   * Gives a blob another name of the same customer, and replaces the blob of that name. Callers guarantee that the names differ.
   * Resolves with the {@link BlobInfo} under the new name when the change survives a crash of the process and of the machine; with
   * `undefined` if there was no blob, and then nothing has changed.
   *
   * At any time a reader finds the whole content under one of the names at least: under the new name not later than it is missing
   * under the earlier one. Under the new name a reader finds either the replaced blob or the whole renamed one. For a moment both
   * names may lead to the content. A blob that is put under the earlier name at the same time is either renamed or stays there: it is
   * never lost. The store documents where it cannot promise that between several servers. `modifiedAt` is not earlier than that of
   * the replaced blob. Of several concurrent renames of one blob, exactly one resolves with a {@link BlobInfo}; the exception is that
   * of `delete`. With `createOnly` and a taken name, it rejects with `already-exists`, and nothing has changed.
   *
   * If it fails half-way (power cut, lost connection), the call rejects, and the whole content is afterwards under the earlier name,
   * the new one, or both.
   *
   * Absent if the store cannot rename.
   */
  rename?(
    key: BlobKey,
    to: string,
    options?: RenameOptions & KeepOptions,
  ): Promise<BlobInfo | undefined>

  /**
   * The names of a customer's blobs in ascending order of their UTF-8 bytes (which is not JavaScript's order of strings). The store
   * chooses the size of the pages: each has 1 to 1,024 names, and does not change after it was yielded. A customer without blobs has
   * no page. A blob that exists during the whole iteration occurs exactly once; one that is added or deleted meanwhile may occur or
   * not. A list with fewer entries than its limit has reached the last name. Only whole, published blobs occur.
   */
  list(customer: string, options?: ListOptions): AsyncIterable<readonly string[]>

  /**
   * The {@link BlobInfo} of a customer's blobs, in the order and pages of `list`, with the same promises. Each entry describes one
   * published blob, as `stat` would at some moment of the iteration; if a blob is replaced meanwhile, its entry describes the
   * earlier one or the new one.
   */
  listDetails(customer: string, options?: ListOptions): AsyncIterable<readonly BlobInfo[]>

  /** How much a customer keeps; zeros for a customer without blobs. May take as long as a listing. */
  usage(customer: string): Promise<Usage>

  /**
   * The names of all customers with a blob, in ascending order of their UTF-8 bytes, each once. A customer whose first blob is added
   * or last one deleted meanwhile may occur or not. A customer without blobs may occur, too: a store need not forget a customer
   * who had some.
   */
  customers(): AsyncIterable<string>

  /** Uploads that come in pieces, if the store supports them. */
  readonly resumable?: ResumableUploads

  /** By which customers can end their links, if the store supports that. */
  readonly linkGenerations?: LinkGenerations

  /** By which files can expire, if the store supports that. */
  readonly expiry?: Expiry

  /** Earlier versions and deleted blobs, if the store supports that. */
  readonly history?: History
}
