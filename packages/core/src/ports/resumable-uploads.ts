import type { BlobInfo } from './blob-info.ts'

/**
 * Where an unfinished upload lives. The id is the store's: 16 to 64 characters of `A-Z`, `a-z`, `0-9`, `-` and `_`.
 * Anything else is the id of no upload.
 */
export interface UploadKey {
  readonly customer: string
  readonly id: string
}

/** What is known of an upload before its first byte. The store keeps it as it is, and gives it back with the state. */
export interface UploadPlan {
  /** The name of the file to be; it has passed the policy for names. */
  readonly name: string
  /** Bytes of the whole file, where that is known. */
  readonly length?: number
  /** Publish only if the name is free. Default: replace. */
  readonly createOnly?: boolean
  /** The SHA-256 of the whole file in lower-case hexadecimal. The store does not check it. */
  readonly sha256?: string
  /** A text of the caller's, at most 4,096 bytes of UTF-8, such as what a protocol wants to have back. Default: none. */
  readonly note?: string
  /** Which link has let the upload in, in words of the core. Default: none, it is the customer's own. */
  readonly link?: string
  /** Milliseconds after the last change of the upload at which it expires, 1 or more. */
  readonly expiresAfterMs: number
}

/** An upload that has begun, and may have been published. */
export interface ResumableUpload {
  readonly id: string
  readonly plan: UploadPlan
  /** How many bytes of the content the store has durably. It never decreases. */
  readonly offset: number
  /** By the store's clock. */
  readonly expiresAt: Date
  /** The file, once the upload has been published. */
  readonly published?: BlobInfo
}

export interface AppendOptions {
  /** Ends the append; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /**
   * All bytes count or none: where the content throws, the signal aborts or a later call ends the append, the offset stays.
   * Default: what came counts.
   */
  readonly allOrNothing?: boolean
  /** As in `PutOptions`. */
  readonly release?: (chunk: Uint8Array) => void
  /**
   * Called with the upload as the append finds it, before any content is taken, and whenever more bytes have become durable,
   * in order; by the time that the append resolves, with the last state. It must not throw. Default: no call.
   */
  readonly onState?: (upload: ResumableUpload) => void
}

/**
 * Keeps uploads that come in pieces, until they are published as blobs or expire. A store that can do so has it as
 * `resumable`. Names, limits, quota, digests and permission are the core's business and have been judged before it is called.
 * Every sentence here is a test in `@holdfast/contract`.
 *
 * Unfinished uploads are no blobs: they are not opened, listed or counted as such, and put, delete and list of blobs do not
 * change them. They survive a crash of the process and of the machine. One process that opens the data finds the uploads
 * that another one began. Rejections are those of `BlobStore`, and those named here.
 */
export interface ResumableUploads {
  /**
   * Begins an upload, and resolves once it is durable. A store may refuse what is longer than its free space of that moment, which
   * reserves nothing: `insufficient-storage`. The id cannot be guessed: it has 128 random bits or more.
   */
  begin(customer: string, plan: UploadPlan): Promise<ResumableUpload>

  /**
   * How far an upload is; `undefined` if there is none, if it was discarded, or if it has expired. It waits for no append;
   * while one is under way, the offset may be anywhere between those before and after it.
   */
  state(key: UploadKey): Promise<ResumableUpload | undefined>

  /**
   * Adds `content` at `offset`, which must be where the upload stands, and resolves to the new offset once all bytes are
   * durable. Given: `content` as for `BlobStore.put`; no more bytes than the plan's length.
   *
   * Promised: content is taken one chunk at a time, in bounded memory. What came counts, however the call ends: when the
   * content throws or the signal aborts, the call makes durable what it has taken, then rejects with that very error, even
   * when the content is stalled; `state` has the new offset by then. What a call has taken becomes durable while it runs, at
   * the latest after 256 MiB, so that a crash costs no more than that. An offset that `state` or `append` has given
   * is never taken back, by no failure and no crash; the bytes before it never change. Where the store is full, what came since
   * `onState` was last called may be dropped, so that others have room, and the upload expires within an hour unless it
   * goes on.
   *
   * Of several appends to one upload at most one adds bytes at a time, and bytes of two never mix. One that finds another
   * one under way in the same process ends it: the earlier one makes durable what it has taken and rejects with
   * `upload-conflict`; then the later one compares its offset.
   *
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if the upload stands at another offset, is published, or
   *   is being written by another process that does not end; nothing has changed then
   */
  append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options?: AppendOptions,
  ): Promise<number>

  /**
   * Ends an append that is under way, as a later append would, and resolves once its bytes are durable; does nothing
   * where there is none. A client that asks where to go on has given up its earlier request, which may still be stalled.
   */
  interrupt(key: UploadKey): Promise<void>

  /**
   * Sets the length of an upload that has begun without one; resolves once it is durable.
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if it has another length or more bytes; the length of
   *   one that is published is that of its blob
   */
  declareLength(key: UploadKey, length: number): Promise<void>

  /**
   * The bytes so far, in order; may be iterated while no append is under way, and before the upload is published.
   * @throws FileServiceError `upload-not-found`
   */
  content(key: UploadKey): AsyncIterable<Uint8Array>

  /**
   * Makes the bytes so far the blob of the plan's name, in one step and with the promise of `BlobStore.put`, `createOnly` too.
   * The upload stays known as published until it expires, or a thousand others of the customer's have been published since (a
   * hundred others of its link, or a thousand by links, where the plan has one): publishing it again resolves to the same `BlobInfo` and
   * changes nothing, even if the blob has been replaced or deleted meanwhile, even if the first call's answer was lost in a
   * crash. When it rejects, the upload stays as it was. It ends an append that is under way first.
   *
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if a length is known, and the upload has fewer bytes or
   *   more; `already-exists`
   */
  publish(key: UploadKey): Promise<BlobInfo>

  /**
   * Makes `published`, a blob that `put` has just stored, known as an upload of this `plan` that has been published. It
   * never rejects, since the blob is safe; and it need not be durable, so that it costs little. Where the store cannot keep
   * it, or the machine crashes soon afterwards, the upload is not known.
   */
  remember(customer: string, plan: UploadPlan, published: BlobInfo): Promise<ResumableUpload>

  /**
   * Drops an upload and its bytes; a published blob stays. `true` once that is durable; `false` if there was none. It ends
   * an append that is under way.
   */
  discard(key: UploadKey): Promise<boolean>

  /**
   * A customer's uploads that have begun and are neither published nor discarded nor expired, in no order, in pages of 1 to
   * 1,024. One that comes, goes or changes meanwhile may occur or not. Ends no append.
   */
  list(customer: string): AsyncIterable<readonly ResumableUpload[]>

  /**
   * Removes what has expired by `now`, of all customers, and what a crash has left; never an upload with an append under
   * way. Resolves to the number of unfinished uploads removed; published ones that it forgets do not count. Several
   * processes may sweep at once.
   */
  sweep(now: Date): Promise<number>
}
