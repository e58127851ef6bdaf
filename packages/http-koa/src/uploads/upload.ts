import type { BlobInfo, CustomerFiles, LinkUploads, UploadOptions } from '@holdfast/core'
import type { Context } from 'koa'
import { filesOf } from '../guards/enter.ts'
import { etagOf, isCreateOnly } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { exchangeIn, type Exchange, type HoldfastState } from '../server/exchange.ts'
import { releaseChunks, type UploadBytes } from '../server/request-body.ts'

/** What all files of a request to store files have in common, in whatever form their bytes are sent. */
export interface UploadRequest {
  /** The files of the customer for whom the request stores files. */
  readonly who: Pick<CustomerFiles, 'upload'>
  /** The options that hold for each file of the request. */
  readonly options: UploadOptions
  /** Called with the file's name as the client sends it, for the log and the audit trail; it may be one that is not allowed. */
  readonly note: (name: string) => void
}

/**
 * The {@link UploadRequest} of a request. Call this before the body is read.
 *
 * @throws HttpProblem 400 for a precondition that uploads do not support
 */
export function uploadRequestOf(exchange: Exchange): UploadRequest {
  const { request, state } = exchange
  return {
    who: uploaderOf(state),
    options: { createOnly: isCreateOnly(request.headers), ...releaseChunks(request) },
    note: noteName(state),
  }
}

/** The files of the customer who uploads, or the uploads that a link allows. */
export function uploaderOf(state: HoldfastState): CustomerFiles | LinkUploads {
  return state.link?.uploads ?? filesOf(state)
}

/** Makes a function that notes the name of the file, for the log and the audit trail. */
export function noteName(state: HoldfastState): (name: string) => void {
  return (name) => void (state.fileName = name)
}

/** A file to store, from a form or a plain body. */
export interface UploadedFile extends Pick<UploadOptions, 'digest' | 'size'> {
  readonly name: string
  readonly bytes: UploadBytes
}

/** The upload of a file. All uploads of whole files use this function. */
export function prepareUpload(
  { who, options, note }: UploadRequest,
  { name, bytes, ...file }: UploadedFile,
): PendingUpload {
  note(name)
  const upload = (content: UploadBytes) => who.upload(name, content, { ...options, ...file })
  return {
    stage: async () =>
      bytes instanceof Uint8Array ? stageBytes(bytes, upload) : stageArriving(bytes, upload),
    publish: () => upload(bytes),
  }
}

/** Answers with the file that `store` stores. If the fast path has begun to store it, waits for that instead. */
export async function answerUpload(
  ctx: Context & { state: HoldfastState },
  store: () => Promise<BlobInfo>,
): Promise<void> {
  const exchange = exchangeIn(ctx)
  answerStored(ctx, await (exchange.storing ??= store()))
}

/** Answers that a file is stored durably. */
export function answerStored(ctx: Context & { state: HoldfastState }, info: BlobInfo): void {
  ctx.state.stored = info
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}

/** An upload whose content has arrived in the store and is not visible yet. */
export interface StagedUpload {
  /** In bytes. */
  readonly size: number
  /** Makes the file visible and durable; resolves when it is both. Rejects like `CustomerFiles.upload`. */
  publish(): Promise<BlobInfo>
  /** Drops the upload, unless it was published; resolves when nothing of it is left. */
  discard(): Promise<void>
  /** Resolves when the upload has been published or dropped, or has failed. */
  readonly ended: Promise<void>
}

/** An upload that has not started. Call one of its methods, once, to start it. */
export interface PendingUpload {
  /**
   * Stores the content without publishing it; resolves when all of it has arrived. Rejects like `CustomerFiles.upload`, and with
   * the content's error.
   */
  stage(): Promise<StagedUpload>
  /** Stores the content, and publishes it as soon as it ends. Resolves and rejects like `CustomerFiles.upload`. */
  publish(): Promise<BlobInfo>
}

type Store = (content: UploadBytes) => Promise<BlobInfo>

/**
 * Stages content that is arriving. The store gets a content that does not end before `publish` is called, and stores make
 * nothing visible before the content has ended.
 */
async function stageArriving(
  content: AsyncIterable<Uint8Array>,
  store: Store,
): Promise<StagedUpload> {
  const permission = Promise.withResolvers<undefined>()
  const arrival = Promise.withResolvers<number>()

  async function* heldBack() {
    let size = 0
    for await (const chunk of content) {
      size += chunk.length
      yield chunk
    }
    arrival.resolve(size)
    await permission.promise
  }

  const stored = store(heldBack())
  const ended = stored.then(() => {}, arrival.reject)
  const size = await arrival.promise
  return {
    size,
    ended,
    publish() {
      permission.resolve(undefined)
      return stored
    },
    async discard() {
      permission.reject(problems.discarded())
      await ended
    },
  }
}

/** Stages bytes in memory: they stay there, and the store gets them when they are published. */
function stageBytes(bytes: Uint8Array, store: Store): StagedUpload {
  const end = Promise.withResolvers<undefined>()
  let stored: Promise<BlobInfo> | undefined
  let isDiscarded = false
  const publish = () => store(bytes).finally(() => end.resolve(undefined))
  return {
    size: bytes.length,
    ended: end.promise,
    publish: () => (isDiscarded ? Promise.reject(problems.discarded()) : (stored ??= publish())),
    async discard() {
      isDiscarded = true
      if (stored === undefined) end.resolve(undefined)
      await end.promise
    },
  }
}
