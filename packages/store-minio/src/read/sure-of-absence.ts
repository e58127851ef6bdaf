import { setTimeout as delay } from 'node:timers/promises'
import { FileServiceError } from '@holdfast/core'
import type { ObjectPlace } from '../keys/object-place.ts'
import { listObjects } from '../list/list-objects.ts'

/** Milliseconds before each question. */
const pauses = [0, 100, 300, 1000, 2000]

/**
 * What `ask` finds; `undefined` only where the listing knows nothing of the object either. A node of a MinIO cluster that
 * has just come back may say that an object does not exist, and a HEAD without an answer's body says no more of a bucket
 * that is gone: neither is a reason to tell a customer that a file is not there.
 *
 * @throws FileServiceError `store-unavailable` when the store goes on to list what it does not find
 */
export async function sureOfAbsence<T>(
  object: ObjectPlace,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const pause of pauses) {
    // A timer costs a millisecond, however short it is.
    if (pause > 0) await delay(pause)
    const found = await ask()
    if (found !== undefined || !(await isListed(object))) return found
  }
  throw new FileServiceError('store-unavailable', 'The store lists an object that it does not find')
}

async function isListed({ s3, bucket, key }: ObjectPlace): Promise<boolean> {
  // The key itself comes before all that begin with it.
  for await (const { objects } of listObjects({ s3, bucket, prefix: key, pageSize: 1 })) {
    return objects[0]?.key === key
  }
  return false
}
