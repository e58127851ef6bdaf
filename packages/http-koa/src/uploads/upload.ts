import type { BlobInfo, CustomerFiles, LinkUploads, UploadOptions } from '@holdfast/core'
import type { Context } from 'koa'
import { filesOf } from '../guards/authenticate.ts'
import { etagOf, isCreateOnly } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { exchangeIn, type Exchange, type HoldfastState } from '../server/exchange.ts'
import { releaseChunks, type UploadBytes } from '../server/request-body.ts'

/** What all files of a request that stores files have in common, whatever way their bytes come. */
export interface UploadRequest {
  /** Whose files they become. */
  readonly who: Pick<CustomerFiles, 'upload'>
  /** What the request asks for, whichever file it is. */
  readonly options: UploadOptions
  /** Called with what the client calls the file, for the log and the audit trail; it may not be allowed. */
  readonly note: (name: string) => void
}

/**
 * The upload that a request asks for. To be called before the body is read.
 *
 * @throws HttpProblem 400 for a precondition that uploads do not know
 */
export function uploadRequestOf(exchange: Exchange): UploadRequest {
  const { request, state } = exchange
  return {
    who: uploaderOf(state),
    options: { createOnly: isCreateOnly(request.headers), ...releaseChunks(request) },
    note: noteName(state),
  }
}

/** Who uploads: the customer, or whoever has a link, within its bounds. */
export function uploaderOf(state: HoldfastState): CustomerFiles | LinkUploads {
  return state.link?.uploads ?? filesOf(state)
}

/** Notes the name of the file to be, for the log and the audit trail. */
export function noteName(state: HoldfastState): (name: string) => void {
  return (name) => void (state.fileName = name)
}

/** What the ways of an upload bring, each by reading the body in its own way. */
export interface UploadedFile extends Pick<UploadOptions, 'digest' | 'size'> {
  readonly name: string
  readonly bytes: UploadBytes
}

/** The upload of a file. All uploads of whole files come this way, whoever brings their bytes. */
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

/** Answers with what `store` has stored; where the fast path has begun that, with what came of it. */
export async function answerUpload(
  ctx: Context & { state: HoldfastState },
  store: () => Promise<BlobInfo>,
): Promise<void> {
  const exchange = exchangeIn(ctx)
  answerStored(ctx, await (exchange.storing ??= store()))
}

/** Says that a file is safe. */
export function answerStored(ctx: Context & { state: HoldfastState }, info: BlobInfo): void {
  ctx.state.stored = info
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}

/** An upload whose content has arrived in the store and is not visible yet. */
export interface StagedUpload {
  /** Bytes. */
  readonly size: number
  /** Makes the file visible and safe; resolves when it is both. Rejects like `CustomerFiles.upload`. */
  publish(): Promise<BlobInfo>
  /** Drops the upload, unless it was published; resolves when nothing of it is left. */
  discard(): Promise<void>
  /** Resolves when the upload has been published or dropped, or has failed. */
  readonly ended: Promise<void>
}

/** An upload that has not begun. Either of its methods begins it, and is called once. */
export interface PendingUpload {
  /**
   * Stores the content up to the point where only the permission to publish is missing; resolves then. Rejects like
   * `CustomerFiles.upload`, and with the content's error.
   */
  stage(): Promise<StagedUpload>
  /** Stores the content, and publishes it as soon as it ends. Resolves and rejects like `CustomerFiles.upload`. */
  publish(): Promise<BlobInfo>
}

type Store = (content: UploadBytes) => Promise<BlobInfo>

/**
 * The content that the store is given does not end before `publish` is called, and stores make nothing visible before the
 * content has ended.
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

/** Bytes in memory need not wait in the store: it is given them when they are published. */
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
