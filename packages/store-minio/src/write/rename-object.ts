import { FileServiceError } from '@holdfast/core'
import { lengthUnknown, translating } from '../errors/s3-errors.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import { copyObject } from './copy-object.ts'
import { findObject, isSameObject, type FoundVersion } from './find-object.ts'
import type { ObjectWrite, WrittenObject } from './object-write.ts'
import { nameIsTaken } from './publish-object.ts'
import { type Companions, removeIf } from './removals.ts'

/** The most objects that may be found under the earlier key, one after the other, before a rename gives up. */
const mostAttempts = 8

/** What a rename needs beside its objects. */
interface RenamePlan {
  readonly companions?: Pick<Companions, 'hold'> | undefined
  /** Removes a version that is not the current one any more. Never rejects. Default: it stays. */
  readonly removeVersion?: ((key: string, version: string) => Promise<void>) | undefined
}

/**
 * Has the server copy the object `source` to the key of `write`, and then removes the source, unless another object is there by then.
 * Resolves with `undefined` if there is no object. Others who remove or rename the source in this process must wait until it ends.
 * In a bucket that keeps versions, `removeVersion` then removes the version that was copied: it was not deleted, but has another name.
 *
 * @throws FileServiceError `already-exists`, `insufficient-storage`, `store-unavailable`
 */
export async function renameObject(
  source: ObjectRef,
  write: ObjectWrite,
  { companions, removeVersion }: RenamePlan = {},
): Promise<WrittenObject | undefined> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const found = await translating(findObject(source))
    if (found === undefined) return undefined
    // Checked before all is copied in vain; the server decides at the end.
    if (write.createOnly && (await translating(findObject(write)))) throw nameIsTaken()
    const { size, etag } = found
    if (size === undefined) throw lengthUnknown()
    const copied = await copyObject({ key: source.key, size, etag }, write)
    if (copied === undefined) continue
    const { changing, removals } = write
    const isCopied = (object: FoundVersion) => isSameObject(object, found)
    const removal = { changing, removals, companions }
    const isRemoved = await translating(removeIf(source, isCopied, removal))
    if (isRemoved) await removeVersion?.(source.key, found.version ?? 'null')
    return copied
  }
  throw new FileServiceError('store-unavailable', 'The file changes all the time')
}
