import type { BlobInfo, CustomerFiles, UploadOptions } from '@holdfast/core'
import { problems } from '../http/problems.ts'
import type { UploadBytes } from '../server/request-body.ts'

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
export interface Upload {
  /**
   * Stores the content up to the point where only the permission to publish is missing; resolves then. Rejects like
   * `CustomerFiles.upload`, and with the content's error.
   */
  stage(): Promise<StagedUpload>
  /** Stores the content, and publishes it as soon as it ends. Resolves and rejects like `CustomerFiles.upload`. */
  publish(): Promise<BlobInfo>
}

/** The upload of `content` as `name`. All uploads come this way, whoever brings their bytes. */
export function prepareUpload(
  files: Pick<CustomerFiles, 'upload'>,
  name: string,
  content: UploadBytes,
  options: UploadOptions,
): Upload {
  const upload = (bytes: UploadBytes) => files.upload(name, bytes, options)
  return {
    stage: async () =>
      content instanceof Uint8Array ? stageBytes(content, upload) : stageArriving(content, upload),
    publish: () => upload(content),
  }
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
