import { isAnswer, translateError } from '../errors/s3-errors.ts'
import { type CopiedPart, completeJoined, joinParts } from './join-parts.ts'
import { abortMultipart, type ObjectWrite, type WrittenObject } from './object-write.ts'
import { publishObject } from './publish-object.ts'

/** What is copied. */
export interface CopySource extends Omit<CopiedPart, 'range'> {
  /** In bytes. */
  readonly size: number
}

/**
 * Has the server copy an object, or a version, to the key of `write`. Resolves with `undefined` if the source is another one by now, or
 * gone.
 *
 * @throws FileServiceError `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function copyObject(
  { size, ...source }: CopySource,
  write: ObjectWrite,
): Promise<WrittenObject | undefined> {
  const parts = partsOf(size).map((range): CopiedPart => ({ ...source, range }))
  try {
    const joined = await joinParts(write, parts)
    try {
      const end = () => completeJoined(write, joined)
      const stop = new AbortController().signal
      const written = await publishObject(write, end, { stop, isDoneOnce: true })
      return { size, etag: written }
    } catch (error) {
      await abortMultipart(write, joined.multipartId)
      throw error
    } finally {
      write.underWay.delete(joined.multipartId)
    }
  } catch (error) {
    if (isAnswer(error, 'PreconditionFailed', 'NoSuchKey', 'NoSuchVersion')) return undefined
    throw translateError(error)
  }
}

/** Bytes of a part: small enough to be copied while the connection waits for the answer. S3 allows 10,000 parts. */
const usualPart = 256 * 1024 * 1024
const mostParts = 10_000

/** The first and the last byte of each part of an object; none of an empty one. */
export function partsOf(size: number, partSize = usualPart): (readonly [number, number])[] {
  const step = Math.max(partSize, Math.ceil(size / mostParts))
  const firsts = Array.from({ length: Math.ceil(size / step) }, (_, index) => index * step)
  return firsts.map((first) => [first, Math.min(size, first + step) - 1])
}
