import type { BlobInfo, KeepOptions } from './blob.ts'

/**
 * The key of an upload. The store chooses the id: 16 to 64 characters of `A-Z`, `a-z`, `0-9`, `-` and `_`. No upload has any
 * other id.
 */
export interface UploadKey {
  readonly customer: string
  readonly id: string
}

/** What is known about an upload before its first byte. The store keeps it unchanged, and returns it with the state. */
export interface UploadPlan {
  /** The name under which the file is published; the core has checked it by the policy for names. */
  readonly name: string
  /** The size of the whole file in bytes, if it is known. */
  readonly length?: number
  /** Publish only if the name is free. Default: replace. */
  readonly createOnly?: boolean
  /** The SHA-256 of the whole file in lower-case hexadecimal. The store does not check it. */
  readonly sha256?: string
  /** A text of the caller, at most 4,096 bytes of UTF-8, such as data that a protocol has to return. Default: none. */
  readonly note?: string
  /** The core's id of the link by which the upload was begun. Default: none, the customer has begun it. */
  readonly link?: string
  /** Which of the customer's further logins has begun the upload. Default: the customer's own. */
  readonly login?: string
  /** How long after its last change the upload expires, in milliseconds, 1 or more. */
  readonly expiresAfterMs: number
}

/** An upload that has begun; it may have been published. */
export interface ResumableUpload {
  readonly id: string
  readonly plan: UploadPlan
  /** How many bytes of the content the store has made durable. It never decreases. */
  readonly offset: number
  /** By the store's clock. */
  readonly expiresAt: Date
  /** The published file, once there is one. */
  readonly published?: BlobInfo
}

export interface AppendOptions {
  /** Ends the append; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /**
   * Add all bytes or none: if the content throws, the signal aborts or a later call ends the append, the offset does not change.
   * Default: the bytes that have arrived are kept.
   */
  readonly allOrNothing?: boolean
  /** As in `PutOptions`. */
  readonly release?: (chunk: Uint8Array) => void
  /**
   * Called with the upload as the append finds it, before any content is taken, and then, in order, whenever more bytes have become
   * durable; with the last state before the append resolves. It must not throw. Default: none.
   */
  readonly onState?: (upload: ResumableUpload) => void
}

/**
 * Keeps uploads that come in pieces, until they are published as blobs or expire. A store that supports them has this as
 * `resumable`. The core checks names, limits, quota, digests and permission before it calls a store. Every sentence here is a test
 * in `@holdfast/contract`.
 *
 * Unfinished uploads are not blobs: they are not opened, listed or counted as blobs, and put, delete and list of blobs do not change
 * them. They survive a crash of the process and of the machine. A process that opens the data finds the uploads that another
 * process began. Calls reject as those of `BlobStore` do, and as documented here.
 */
export interface ResumableUploads {
  /**
   * Begins an upload, and resolves when it is durable. A store may refuse an upload that is longer than its free space at that
   * moment: `insufficient-storage`, without a `cause`. But it reserves no space. The id cannot be guessed: it has 128 random bits or more.
   */
  begin(customer: string, plan: UploadPlan): Promise<ResumableUpload>

  /**
   * The state of an upload; `undefined` if there is none, if it was discarded, or if it has expired. It does not wait for an append
   * that is under way; the offset may then be any between those before and after the append.
   */
  state(key: UploadKey): Promise<ResumableUpload | undefined>

  /**
   * Adds `content` at `offset`, which must be the upload's offset, and resolves with the new offset when all bytes are durable.
   * Callers guarantee: `content` as for `BlobStore.put`, with no more bytes than the plan's length.
   *
   * Stores promise: content is taken one chunk at a time, in bounded memory. Bytes that have arrived are kept, also when the call
   * fails: if the content throws or the signal aborts, the call makes durable what it has taken, and then rejects with that very
   * error, even while the content is stalled; `state` has the new offset by then. While a call runs, it makes its bytes durable at
   * the latest after 256 MiB, so that a crash loses no more than that. An offset that `state` or `append` has returned never
   * decreases, after any failure or crash, and the bytes before it never change. If the store is full, it may drop the bytes that
   * came since the last call of `onState`, to make room for others, and the upload expires within an hour unless it continues.
   *
   * Of several appends to one upload, only one adds bytes at a time, and bytes of two never mix. An append that finds another one
   * under way in the same process ends it: the earlier one makes durable what it has taken and rejects with `upload-conflict`; then
   * the later one compares its offset.
   *
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if the upload has another offset, is published, or is being
   *   written by another process that does not stop; nothing has changed then
   */
  append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options?: AppendOptions,
  ): Promise<number>

  /**
   * Ends an append that is under way, as a later append would, and resolves when its bytes are durable; does nothing if there is
   * none. It is for a client that asks for the offset: it has given up its earlier request, which may still be stalled.
   */
  interrupt(key: UploadKey): Promise<void>

  /**
   * Sets the length of an upload that has begun without one; resolves when the length is durable.
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if it has another length or more bytes. A published upload has
   *   the length of its blob.
   */
  declareLength(key: UploadKey, length: number): Promise<void>

  /**
   * The bytes so far, in order. The caller iterates them only while no append is under way, and before the upload is published.
   * @throws FileServiceError `upload-not-found`
   */
  content(key: UploadKey): AsyncIterable<Uint8Array>

  /**
   * Publishes the bytes so far as the blob of the plan's name, in one step, with the promises of `BlobStore.put`, also for
   * `createOnly`. An append that is under way is ended first. The store remembers the upload as published until it expires, or until
   * a thousand other uploads of the customer have been published since (if the plan has a link: a hundred others of that link, or a
   * thousand by links). Until then, a second call resolves with the same `BlobInfo` and changes nothing, even if the blob was
   * replaced or deleted meanwhile, or the first call's answer was lost in a crash. If a call rejects, the upload stays unchanged.
   *
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if a length is known, and the upload has fewer bytes or
   *   more; `already-exists`
   */
  publish(key: UploadKey, options?: KeepOptions): Promise<BlobInfo>

  /**
   * Remembers `published`, a blob that `put` has just stored, as a published upload with this `plan`. It never rejects, since the
   * blob is stored already. The record need not be durable, so that it costs little: if the store cannot keep it, or the machine
   * crashes soon afterwards, the upload is unknown.
   */
  remember(customer: string, plan: UploadPlan, published: BlobInfo): Promise<ResumableUpload>

  /**
   * Drops an upload and its bytes; a published blob stays. Resolves with `true` when that is durable; with `false` if there was no
   * upload. It ends an append that is under way.
   */
  discard(key: UploadKey): Promise<boolean>

  /**
   * A customer's unfinished uploads: those that are not published, discarded or expired. They come in no order, in pages of 1 to
   * 1,024. An upload that begins, ends or changes meanwhile may occur or not. The call ends no append.
   */
  list(customer: string): AsyncIterable<readonly ResumableUpload[]>

  /**
   * Removes the uploads of all customers that have expired by `now`, and what a crash has left; never an upload with an append under
   * way. Resolves with the number of unfinished uploads that it removed; published ones that it forgets do not count. Several
   * processes may sweep at the same time.
   */
  sweep(now: Date): Promise<number>
}
