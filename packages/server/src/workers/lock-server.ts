import {
  createKeyedCounter,
  createKeyedLock,
  type KeyedCounter,
  type KeyedLock,
} from '@holdfast/core'
import { leaseMs, outlivedMs, startTimer, type StartTimer } from './leases.ts'

/** The requests about locks that a worker may send. */
export type TurnHandlers = ReturnType<typeof createTurnServer>['answers']

/** The locks that all workers share. */
export interface SharedTurns {
  readonly lock: KeyedLock
  /** How many holders of each key have lost the lock and not released it. */
  readonly unended: KeyedCounter
  /** Which worker held the lock of each key last. There are as many keys as customers. */
  readonly lastTakers: Map<string, object>
}

export function createSharedTurns(): SharedTurns {
  return { lock: createKeyedLock(), unended: createKeyedCounter(), lastTakers: new Map() }
}

/**
 * Gives locks to a worker. A lock is released when the worker says so, or some time after the worker has crashed: its last request
 * may still be on its way to the store. When its lease expires, the next worker gets the lock, and this one counts as `unended`: a
 * suspended worker may continue and publish.
 */
export function createTurnServer(
  { lock, unended, lastTakers }: SharedTurns,
  start: StartTimer = startTimer,
) {
  const turns = new Map<number, () => void>()
  let count = 0
  let isGone = false
  const endTurn = (id: number) => {
    turns.get(id)?.()
    turns.delete(id)
  }
  const answers = {
    async takeTurn({ key }: { readonly key: string }) {
      const id = count++
      const unlock = await lock(key)
      if (isGone) {
        unlock()
        return { id, unended: 0, isNext: false }
      }
      const isNext = lastTakers.get(key) === turns
      lastTakers.set(key, turns)
      const turn = { id, unended: unended.count(key), isNext }
      const endLease = start(leaseMs, () => {
        unended.change(key, 1)
        unlock()
        turns.set(id, () => {
          unended.change(key, -1)
          // The worker may have changed something until now.
          lastTakers.delete(key)
        })
      })
      turns.set(id, () => {
        endLease()
        unlock()
      })
      return turn
    },
    endTurn: ({ id }: { readonly id: number }) => endTurn(id),
  }
  return {
    answers,
    end() {
      isGone = true
      start(outlivedMs, () => {
        for (const id of [...turns.keys()]) endTurn(id)
      })
    },
  }
}
