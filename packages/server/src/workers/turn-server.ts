import {
  createKeyedCounter,
  createKeyedLock,
  type KeyedCounter,
  type KeyedLock,
} from '@holdfast/core'
import { leaseMs, outlivedMs, startTimer, type StartTimer } from './leases.ts'

/** What one worker may ask about turns. */
export type TurnHandlers = ReturnType<typeof createTurnServer>['answers']

/** Who has had the last turn of each key. */
export interface LastTurns {
  /** Notes a turn of `key`, and says whether the last one was `taker`'s, too. */
  take(key: string, taker: object): boolean
  /** The next turn of `key` follows upon somebody else's. */
  forget(key: string): void
}

/** Beyond it the key whose turn is longest ago is forgotten, and its next turn may be that of another worker. */
const mostKeys = 1_000

export function createLastTurns(): LastTurns {
  const takers = new Map<string, object>()
  return {
    take(key, taker) {
      const isSame = takers.get(key) === taker
      takers.delete(key)
      takers.set(key, taker)
      for (const oldest of takers.keys()) {
        if (takers.size <= mostKeys) break
        takers.delete(oldest)
      }
      return isSame
    },
    forget: (key) => void takers.delete(key),
  }
}

/** The turns that all workers share. */
export interface SharedTurns {
  readonly lock: KeyedLock
  /** How many of each key have been passed on and have not ended. */
  readonly unended: KeyedCounter
  readonly last: LastTurns
}

export function createSharedTurns(): SharedTurns {
  return { lock: createKeyedLock(), unended: createKeyedCounter(), last: createLastTurns() }
}

/**
 * Gives a worker turns, each with whether no other worker has had one since its last. A turn ends when the worker says so, or some time after the worker has died: what it was publishing may still be
 * on its way to the store. When its lease is over, it is passed on, and counts as unended until then: a worker that was stopped wakes up
 * and publishes.
 */
export function createTurnServer(
  { lock, unended, last }: SharedTurns,
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
      const turn = { id, unended: unended.count(key), isNext: last.take(key, turns) }
      const endLease = start(leaseMs, () => {
        unended.change(key, 1)
        unlock()
        turns.set(id, () => {
          unended.change(key, -1)
          // It may have changed something until now.
          last.forget(key)
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
