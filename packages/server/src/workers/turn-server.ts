import {
  createKeyedCounter,
  createKeyedLock,
  type KeyedCounter,
  type KeyedLock,
} from '@holdfast/core'

/** What one worker may ask about turns. */
export type TurnHandlers = ReturnType<typeof createTurnServer>['answers']

/** The turns that all workers share. */
export interface SharedTurns {
  readonly lock: KeyedLock
  /** How many of each key have been passed on and have not ended. */
  readonly unended: KeyedCounter
  /** Which worker had the last turn of each key. There are as many keys as customers. */
  readonly lastTakers: Map<string, object>
}

export function createSharedTurns(): SharedTurns {
  return { lock: createKeyedLock(), unended: createKeyedCounter(), lastTakers: new Map() }
}

/**
 * Gives a worker turns. A turn ends when the worker says so, or some time after the worker has died: what it was publishing may still be on
 * its way to the store. When its lease is over, the next worker gets its turn, and this one counts as unended: a worker that was stopped
 * may wake up and publish.
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
          // It may have changed something until now.
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

/** Runs `run` after `ms` milliseconds, unless what it returns is called before. */
export type StartTimer = (ms: number, run: () => void) => () => void

/**
 * How long a worker may keep a name or a turn from others while it publishes or deletes: longer than stores wait for their
 * servers. One that does not end by then has been stopped, and could keep it for ever.
 */
export const leaseMs = 60_000

/**
 * How long the request of a worker may outlive it: when it is killed, what it has sent is on its way to MinIO, which
 * carries it out.
 */
export const outlivedMs = 5_000

export const startTimer: StartTimer = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
