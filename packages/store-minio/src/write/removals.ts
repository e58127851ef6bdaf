import { setTimeout as delay } from 'node:timers/promises'
import { DeleteObjectCommand, S3ServiceException, type S3Client } from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import { pauseBeforeRepeating, isAnswer, mayBeDone } from '../http/s3-errors.ts'
import type { ObjectRef } from '../keys/object-keys.ts'
import { findObject, isSameObject, type FoundVersion } from '../read/stat-object.ts'

/** Records which objects this process removes, for callers that must know whether an object existed meanwhile. */
export interface Removals {
  /** Runs `remove`, which removes the object of `key`. */
  run<T>(key: string, remove: () => Promise<T>): Promise<T>
  /** Watches `key` until `end`, for a publication. It waits for a call of {@link alone} that is under way. */
  watch(key: string): Promise<RemovalWatch>
  /**
   * Runs `work`, which looks at the object of `key` and may remove it, while this process watches the key nowhere: otherwise an object
   * that is published after the look would be removed.
   */
  alone<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** Holds back what is to be published under an object's key; resolves with the function that ends that. */
export type HoldKey = (key: string) => Promise<() => void>

/** Other processes with stores in the same bucket. */
export interface Companions {
  /** Holds a key in all of them; resolves when what they were publishing there has ended. */
  readonly hold: HoldKey
  /** Gets, once, the function by which they hold a key in this store. */
  readonly onHold: (hold: HoldKey) => void
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
  /** Settles when the call of `alone` that has the key now has ended. */
  lone: Promise<unknown> | undefined
  /** Called when the last watch has ended. */
  onUnwatched: () => void
}

/** Uses no memory for keys that are not in use. */
export function createRemovals(): Removals {
  const records = new Map<string, KeyRemovals>()
  const recordOf = (key: string): KeyRemovals => {
    const record = records.get(key) ?? newRecord()
    records.set(key, record)
    return record
  }
  const forgetIfUnused = (key: string, { running, watches, lone }: KeyRemovals) => {
    if (running === 0 && watches === 0 && lone === undefined) records.delete(key)
  }
  const loneOf = (key: string) => records.get(key)?.lone
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
    async watch(key) {
      while (loneOf(key)) await loneOf(key)
      const record = recordOf(key)
      const { ended } = record
      record.watches++
      return {
        seen: () => record.running > 0 || record.ended > ended,
        end: () => {
          record.watches--
          if (record.watches === 0) record.onUnwatched()
          forgetIfUnused(key, record)
        },
      }
    },
    async alone(key, work) {
      while (loneOf(key)) await loneOf(key)
      const record = recordOf(key)
      const { promise: over, resolve } = Promise.withResolvers<undefined>()
      record.lone = over
      try {
        if (record.watches > 0) {
          await new Promise<void>((unwatched) => void (record.onUnwatched = unwatched))
        }
        return await work()
      } finally {
        record.lone = undefined
        resolve(undefined)
        forgetIfUnused(key, record)
      }
    },
  }
}

function newRecord(): KeyRemovals {
  return { running: 0, ended: 0, watches: 0, lone: undefined, onUnwatched: () => {} }
}

/**
 * Removes an object; `false` if there was none, which S3 itself does not report.
 *
 * @throws FileServiceError `store-unavailable` if an answer was lost and there is another object since
 */
export type ObjectRemover = (objectRef: ObjectRef) => Promise<boolean>

/**
 * Runs works on one key one after the other: removals, and renames, which remove as well. If a removal fails, those that wait for it
 * fail with the same error: they would meet it, too.
 */
export type KeyTurns = <T>(
  kind: 'removal' | 'rename',
  key: string,
  work: () => Promise<T>,
) => Promise<T>

export function createKeyTurns(): KeyTurns {
  const running = new Map<string, Promise<unknown>>()
  return async (kind, key, work) => {
    while (running.has(key)) await running.get(key)
    const working = work()
    running.set(key, kind === 'removal' ? working : working.catch(() => {}))
    try {
      return await working
    } finally {
      running.delete(key)
    }
  }
}

/** Makes a remover: if several calls at once remove one object, exactly one of them gets `true`. */
export function createObjectRemover(
  changing: S3Client,
  removals: Removals,
  inTurn: KeyTurns,
): ObjectRemover {
  return (objectRef) =>
    inTurn('removal', objectRef.key, async () => {
      const found = await findObject(objectRef)
      return found !== undefined && removeFound(objectRef, found, { changing, removals })
    })
}

/** What a removal needs. */
export interface Removal {
  readonly changing: S3Client
  readonly removals: Removals
  /** Default: no other processes publish under the key. */
  readonly companions?: Pick<Companions, 'hold'> | undefined
}

/**
 * Removes the object if `isWanted`; resolves with whether it did. Nothing is published meanwhile by this process and its companions. Other
 * servers' objects are safe only where the S3 server takes conditions with DELETE, as AWS does: if not, what they publish between the look
 * and the removal is lost. The key is held by the companions first: two processes that hold it here first would wait for each other.
 */
export async function removeIf(
  objectRef: ObjectRef,
  isWanted: (found: FoundVersion) => boolean,
  { changing, removals, companions }: Removal,
): Promise<boolean> {
  const release = await companions?.hold(objectRef.key)
  try {
    return await removals.alone(objectRef.key, async () => {
      const found = await findObject(objectRef)
      if (found === undefined || !isWanted(found)) return false
      return removeFound(objectRef, found, { changing, removals }, true)
    })
  } finally {
    release?.()
  }
}

/**
 * Removes the object that was `before` a moment ago; `isConditional`: only if it still has the entity tag. Resolves with whether it did.
 */
async function removeFound(
  objectRef: ObjectRef,
  before: FoundVersion,
  { changing, removals }: Removal,
  isConditional = false,
): Promise<boolean> {
  const { bucket, key } = objectRef
  let condition = isConditional ? { IfMatch: before.etag } : {}
  for (let count = 1; ; count++) {
    const command = new DeleteObjectCommand({ Bucket: bucket, Key: key, ...condition })
    if (isConditional) lookBeforeRepeating(command, objectRef, before)
    try {
      await removals.run(key, () => changing.send(command))
      return true
    } catch (error) {
      if (isConditional && isAnswer(error, 'PreconditionFailed')) return false
      if (isAnswer(error, 'NotImplemented') && 'IfMatch' in condition) {
        condition = {}
        continue
      }
      // If the first try, the only one without a condition, failed for certain, throw. Some servers answer NoSuchKey if others removed the
      // object first.
      if (count === 1 && !mayBeDone(error) && !isAnswer(error, 'NoSuchKey')) throw error
      const pause = pauseBeforeRepeating(error, count)
      // Before the look: not every server takes the condition.
      if (pause !== undefined) await delay(pause)
      const found = await findObject(objectRef)
      if (found === undefined) return true
      if (!isSameObject(found, before)) throw unknownOutcome(error)
      if (pause === undefined) throw error
      condition = { IfMatch: found.etag }
    }
  }
}

/**
 * Has the client look at the object again before it repeats a removal that the server has refused for now, which may take many seconds. If
 * others have replaced it, the removal fails as by its condition, which not every server takes.
 */
function lookBeforeRepeating(
  command: DeleteObjectCommand,
  objectRef: ObjectRef,
  before: FoundVersion,
): void {
  let attempts = 0
  command.middlewareStack.add(
    (next) => async (args) => {
      if (attempts++ > 0) {
        const found = await findObject(objectRef)
        if (found && !isSameObject(found, before)) throw replaced()
      }
      return next(args)
    },
    { step: 'finalizeRequest', priority: 'low', name: 'lookBeforeRepeating' },
  )
}

function replaced(): S3ServiceException {
  const $metadata = { httpStatusCode: 412 }
  return new S3ServiceException({ name: 'PreconditionFailed', $fault: 'client', $metadata })
}

function unknownOutcome(cause: unknown): FileServiceError {
  const message = 'The store did not answer, and others have changed the file since'
  return new FileServiceError('store-unavailable', message, { cause })
}
