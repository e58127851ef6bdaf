import { setTimeout as delay } from 'node:timers/promises'
import { FileServiceError } from '@holdfast/core'
import { findObject, headObject, isSameObject, type FoundVersion } from './find-object.ts'
import type { ObjectWrite } from './object-write.ts'
import { pauseBeforeRepeating } from '../errors/retry-strategy.ts'
import { isAnswer, mayBeDone } from '../errors/s3-errors.ts'

/** The condition under which a request makes the object. */
export interface WriteCondition {
  readonly IfMatch?: string
  readonly IfNoneMatch?: '*'
}

/** Makes the object visible, and resolves with its entity tag. */
export type PublishRequest = (condition: WriteCondition) => Promise<string | undefined>

export interface PublishOptions {
  /** Counts only before the first try; afterwards the object may exist. */
  readonly stop: AbortSignal
  /** Whether the server carries out the request once, however often it is sent. Default: each time. */
  readonly isDoneOnce?: boolean
}

/**
 * Runs `request` and resolves with the object's entity tag. If the response is lost, it inspects the object before it repeats the request,
 * so that it does not undo later changes of others. An object with the mark of this write is a success. If the object is the same as
 * before the first try, or still missing, it repeats the request. In all other cases the outcome is unknown.
 *
 * @throws FileServiceError `already-exists`, `store-unavailable`
 */
export async function publishObject(
  write: ObjectWrite,
  request: PublishRequest,
  { stop, isDoneOnce = false }: PublishOptions,
): Promise<string> {
  const removed = await write.removals.watch(write.key)
  try {
    const before = await headObject(write)
    stop.throwIfAborted()
    const isAsBefore = (found: FoundVersion | undefined) =>
      isSameObject(found, before) && (found !== undefined || !removed.seen())
    return await publish(write, request, isDoneOnce, isAsBefore)
  } finally {
    removed.end()
  }
}

async function publish(
  write: ObjectWrite,
  request: PublishRequest,
  isDoneOnce: boolean,
  isAsBefore: (found: FoundVersion | undefined) => boolean,
): Promise<string> {
  let condition: WriteCondition = write.createOnly ? { IfNoneMatch: '*' } : {}
  let isDoubtful = false
  for (let count = 1; ; count++) {
    try {
      return (await request(condition)) ?? ''
    } catch (error) {
      const isTaken = isAnswer(error, 'PreconditionFailed')
      isDoubtful ||= mayBeDone(error)
      if (!isDoubtful && !isTaken && !isAnswer(error, 'NoSuchUpload')) throw error
      const found = await findObject(write)
      if (found?.mark === write.mark) return found.etag
      const isUndone = !isDoubtful || isAsBefore(found)
      const isOthers = found !== undefined || (isTaken && !isDoubtful)
      if (write.createOnly && isUndone && isOthers) throw nameIsTaken(error)
      const mayRepeat = isUndone || (isDoneOnce && !isTaken)
      const pause = mayRepeat ? pauseBeforeRepeating(error, count) : undefined
      if (pause === undefined) throw isUndone ? error : unknownOutcome(error)
      await delay(pause)
      condition = found ? { IfMatch: found.etag } : { IfNoneMatch: '*' }
    }
  }
}

/** The error of a write that must not replace anything. */
export function nameIsTaken(cause?: unknown): FileServiceError {
  return new FileServiceError('already-exists', 'The name is taken', { cause })
}

function unknownOutcome(cause: unknown): FileServiceError {
  const message = 'The store did not answer, and others have changed the file since'
  return new FileServiceError('store-unavailable', message, { cause })
}
