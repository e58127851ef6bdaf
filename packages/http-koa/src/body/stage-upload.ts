import type { Readable } from 'node:stream'
import type { BlobInfo, CustomerFiles, UploadOptions } from '@holdfast/core'
import { chunksOf } from './chunks-of.ts'
import { problems } from '../errors/problem.ts'

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

/**
 * Takes `stream` into the store up to the point where only permission to publish is missing. The content that the
 * store is given does not end before `publish` is called, and stores make nothing visible before the content has
 * ended.
 *
 * Resolves once the stream has been read to its end; rejects like `CustomerFiles.upload`, and with the stream's
 * error.
 */
export async function stageUpload(
  files: CustomerFiles,
  name: string,
  stream: Readable,
  options: UploadOptions,
): Promise<StagedUpload> {
  const permission = Promise.withResolvers<undefined>()
  const arrival = Promise.withResolvers<number>()
  // Nobody listens to the permission while the content is still coming.
  permission.promise.catch(() => {})

  async function* content() {
    let size = 0
    for await (const chunk of chunksOf(stream, problems.malformedMultipart)) {
      size += chunk.length
      yield chunk
    }
    arrival.resolve(size)
    await permission.promise
  }

  const stored = files.upload(name, content(), options)
  stored.catch(arrival.reject)
  const ended = stored.then(
    () => {},
    () => {},
  )
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
