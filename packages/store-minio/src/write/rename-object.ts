import { FileServiceError } from '@holdfast/core'
import { isAnswer, lengthUnknown, translateError, translating } from '../errors/s3-errors.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import { type CopiedPart, completeJoined, joinParts } from './join-parts.ts'
import { findObject, isSameObject, type FoundVersion } from './find-object.ts'
import { abortMultipart, type ObjectWrite, type WrittenObject } from './object-write.ts'
import { nameIsTaken, publishObject } from './publish-object.ts'
import { type Companions, removeIf } from './removals.ts'

/** The most objects that may be found under the earlier key, one after the other, before a rename gives up. */
const mostAttempts = 8

/**
 * Has the server copy the object `source` to the key of `write`, and then removes the source, unless another object is there by then.
 * Resolves with `undefined` if there is no object. Others who remove or rename the source in this process must wait until it ends.
 *
 * @throws FileServiceError `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function renameObject(
  source: ObjectRef,
  write: ObjectWrite,
  companions?: Pick<Companions, 'hold'>,
): Promise<WrittenObject | undefined> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const found = await translating(findObject(source))
    if (found === undefined) return undefined
    // Checked before all is copied in vain; the server decides at the end.
    if (write.createOnly && (await translating(findObject(write)))) throw nameIsTaken()
    const copied = await copy(source, found, write)
    if (copied === undefined) continue
    const { changing, removals } = write
    const isCopied = (object: FoundVersion) => isSameObject(object, found)
    await translating(removeIf(source, isCopied, { changing, removals, companions }))
    return copied
  }
  throw new FileServiceError('store-unavailable', 'The file changes all the time')
}

/** Resolves with `undefined` if the object at the source is another one by now, or gone. */
async function copy(
  source: ObjectRef,
  { size, etag }: FoundVersion,
  write: ObjectWrite,
): Promise<WrittenObject | undefined> {
  if (size === undefined) throw lengthUnknown()
  const parts = partsOf(size).map((range): CopiedPart => ({ key: source.key, range, etag }))
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
    if (isAnswer(error, 'PreconditionFailed', 'NoSuchKey')) return undefined
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
