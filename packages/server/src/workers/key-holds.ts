import { createKeyedLock, FileServiceError } from '@holdfast/core'
import type { Companions, HoldKey } from '@holdfast/store-minio'
import { leaseMs, outlivedMs, startTimer, type StartTimer } from './lock-server.ts'
import type { RpcChannel } from './rpc-channel.ts'

/** The requests about held keys that a worker may send. */
export type HoldHandlers = {
  /** Has all other workers hold back what they would publish under the key; resolves when what is under way there has ended. */
  holdKey(hold: { readonly key: string }): Promise<{ readonly id: number }>
  freeKey(hold: { readonly id: number }): void
}

/** The requests about held keys that the primary sends to a worker. */
export type HoldingHandlers = {
  hold(hold: { readonly key: string }): Promise<void>
  unhold(hold: { readonly key: string }): void
}

/** How long the other workers may take to end what they publish, in milliseconds: longer than stores wait for their servers. */
const patienceMs = 60_000

/** The primary's side, for one worker. */
export interface HoldServer {
  readonly answers: HoldHandlers
  /** Frees what the worker held, after it has ended; its last request may still be on its way to the store. */
  end(): void
}

/**
 * Makes the primary's sides of workers. One worker at a time holds a key. A hold ends after a minute: the worker was suspended, and others
 * must go on.
 *
 * @param workers the channels to all workers
 */
export function createHoldServers(
  workers: () => Iterable<RpcChannel<HoldingHandlers>>,
  start: StartTimer = startTimer,
): (own: () => RpcChannel<HoldingHandlers>) => HoldServer {
  const lock = createKeyedLock()

  return (own) => {
    const frees = new Map<number, () => void>()
    let count = 0
    let isGone = false
    const freeKey = (id: number) => {
      frees.get(id)?.()
      frees.delete(id)
    }
    const holdKey = async ({ key }: { readonly key: string }) => {
      const unlock = await lock(key)
      const others = [...workers()].filter((worker) => worker !== own())
      const free = () => {
        for (const worker of others) worker.notify('unhold', { key })
        unlock()
      }
      try {
        const patience = AbortSignal.timeout(patienceMs)
        await Promise.all(others.map((worker) => worker.ask('hold', { key }, patience)))
      } catch (cause) {
        free()
        const message = 'Another process is changing the file'
        throw new FileServiceError('overloaded', message, { cause, retryAfterMs: 1_000 })
      }
      const id = count++
      const endLease = start(leaseMs, () => freeKey(id))
      frees.set(id, () => {
        endLease()
        free()
      })
      if (isGone) freeKey(id)
      return { id }
    }
    return {
      answers: { holdKey, freeKey: ({ id }) => freeKey(id) },
      end() {
        isGone = true
        start(outlivedMs, () => [...frees.keys()].forEach(freeKey))
      },
    }
  }
}

/** The worker's side: its handlers for the primary, and the other workers as its store needs them. */
export function createHoldClient(primary: () => RpcChannel<HoldHandlers>): {
  readonly answers: HoldingHandlers
  readonly companions: Companions
} {
  const held = new Map<string, Promise<() => void>>()
  let holdHere: HoldKey = async () => () => {}
  return {
    answers: {
      async hold({ key }) {
        const holding = holdHere(key)
        held.set(key, holding)
        await holding
      },
      unhold({ key }) {
        // It may still wait for what is being published.
        void held.get(key)?.then((release) => release())
        held.delete(key)
      },
    },
    companions: {
      async hold(key) {
        const { id } = await primary().ask('holdKey', { key })
        return () => primary().notify('freeKey', { id })
      },
      onHold: (hold) => void (holdHere = hold),
    },
  }
}
