import type { KeyedLock } from '@holdfast/core'
import { leaseMs, outlivedMs, startTimer, type StartTimer } from './leases.ts'

/** What one worker may ask about turns. */
export type TurnHandlers = ReturnType<typeof createTurnServer>['answers']

/**
 * Gives a worker turns of `lock`. A turn ends when the worker says so, when its lease is over, or some time after the worker
 * has died: what it was publishing may still be on its way to the store.
 */
export function createTurnServer(lock: KeyedLock, start: StartTimer = startTimer) {
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
        return { id }
      }
      const endLease = start(leaseMs, () => endTurn(id))
      turns.set(id, () => {
        endLease()
        unlock()
      })
      return { id }
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
