import { setTimeout as delay } from 'node:timers/promises'
import { DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import { findObject, isSameObject } from './find-object.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import { pauseBeforeRepeating } from '../errors/retry-strategy.ts'
import { isAnswer, mayBeDone } from '../errors/s3-errors.ts'

/** Records which objects this process removes, for callers that must know whether an object existed meanwhile. */
export interface Removals {
  /** Runs `remove`, which removes the object of `key`. */
  run<T>(key: string, remove: () => Promise<T>): Promise<T>
  /** Watches `key` until `end`. */
  watch(key: string): RemovalWatch
}

export interface RemovalWatch {
  /** Whether a removal has run since the watch began. */
  readonly seen: () => boolean
  readonly end: () => void
}

interface KeyRemovals {
  running: number
  ended: number
  watches: number
}

/** Uses no memory for keys without a watcher. */
export function createRemovals(): Removals {
  const records = new Map<string, KeyRemovals>()
  const recordOf = (key: string): KeyRemovals => {
    const record = records.get(key) ?? { running: 0, ended: 0, watches: 0 }
    records.set(key, record)
    return record
  }
  const forgetIfUnused = (key: string, { running, watches }: KeyRemovals) => {
    if (running === 0 && watches === 0) records.delete(key)
  }
  return {
    async run(key, remove) {
      const record = recordOf(key)
      record.running++
      try {
        return await remove()
      } finally {
        record.running--
        record.ended++
        forgetIfUnused(key, record)
      }
    },
    watch(key) {
      const record = recordOf(key)
      const { ended } = record
      record.watches++
      return {
        seen: () => record.running > 0 || record.ended > ended,
        end: () => {
          record.watches--
          forgetIfUnused(key, record)
        },
      }
    },
  }
}

/**
 * Removes an object; `false` if there was none, which S3 itself does not report.
 *
 * @throws FileServiceError `store-unavailable` if an answer was lost and there is another object since
 */
type ObjectRemover = (objectRef: ObjectRef) => Promise<boolean>

/** Makes a remover: if several calls at once remove one object, exactly one of them gets `true`. */
export function createObjectRemover(changing: S3Client, removals: Removals): ObjectRemover {
  const running = new Map<string, Promise<boolean>>()
  return async (objectRef) => {
    const { key } = objectRef
    // If the running removal fails, the waiting calls fail with the same error: they would meet it, too.
    while (running.has(key)) await running.get(key)
    const removing = remove(objectRef, changing, removals)
    running.set(key, removing)
    try {
      return await removing
    } finally {
      running.delete(key)
    }
  }
}

async function remove(
  objectRef: ObjectRef,
  changing: S3Client,
  removals: Removals,
): Promise<boolean> {
  const before = await findObject(objectRef)
  if (before === undefined) return false
  const { bucket, key } = objectRef
  let condition = {}
  for (let count = 1; ; count++) {
    const command = new DeleteObjectCommand({ Bucket: bucket, Key: key, ...condition })
    try {
      await removals.run(key, () => changing.send(command))
      return true
    } catch (error) {
      // If the first try, the only one without a condition, failed for certain, throw. Some servers answer NoSuchKey if others removed the
      // object first.
      if (count === 1 && !mayBeDone(error) && !isAnswer(error, 'NoSuchKey')) throw error
      const found = await findObject(objectRef)
      if (found === undefined) return true
      if (!isSameObject(found, before)) throw unknownOutcome(error)
      const pause = pauseBeforeRepeating(error, count)
      if (pause === undefined) throw error
      await delay(pause)
      condition = { IfMatch: found.etag }
    }
  }
}

function unknownOutcome(cause: unknown): FileServiceError {
  const message = 'The store did not answer, and others have changed the file since'
  return new FileServiceError('store-unavailable', message, { cause })
}
