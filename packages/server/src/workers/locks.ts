import {
  createKeyedCounter,
  createRevocableLocks,
  type HeldLock,
  type KeyedCounter,
  createKeyedLock,
  FileServiceError,
} from '@holdfast/core'
import type { Companions, HoldKey } from '@holdfast/store-minio'
import type { RpcChannel } from './rpc-channel.ts'

/** The requests about locks that a worker may send. */
export type LockHandlers = ReturnType<typeof createLockServer>['answers']

/** The locks that all workers share. */
export interface WorkerLocks {
  readonly lock: ServerLocks
  /** How many holders of each key have lost the lock and not released it, without those that `lock` counts. */
  readonly lostHolders: KeyedCounter
  /** Which worker held the lock of each key last. There are as many keys as customers. */
  readonly lastHolders: Map<string, object>
}

/** The locks of a server: its own, or those that it shares with other servers. */
export type ServerLocks = (key: string) => Promise<ServerLock>

/** A held lock of {@link ServerLocks}. */
export interface ServerLock extends HeldLock {
  /**
   * Gives the lock to the next one, of this or another server, although the holder may still act. It counts among the `lostHolders`
   * until `release`. Left out by locks that other servers do not take.
   */
  readonly lose?: () => void
}

/** @param lock default: the locks of this server, which no other server takes */
export function createWorkerLocks(lock: ServerLocks = createRevocableLocks(false)): WorkerLocks {
  return { lock, lostHolders: createKeyedCounter(), lastHolders: new Map() }
}

/**
 * Gives locks to a worker. A lock is released when the worker says so, or some time after the worker has crashed: its last request
 * may still be on its way to the store. When its lease expires, the next worker gets the lock, and this one counts among the
 * `lostHolders`: a suspended worker may continue and publish. A holder is the same if it is the same worker and, where several
 * servers take the locks, no other server has held the lock meanwhile.
 */
export function createLockServer(
  { lock, lostHolders, lastHolders }: WorkerLocks,
  start: StartTimer = startTimer,
) {
  /** The functions that release the worker's locks. */
  const releases = new Map<number, () => void>()
  let count = 0
  let isGone = false
  /** Gives the lock to the next one, and returns the function that ends its count as lost. */
  const lose = (key: string, held: ServerLock) => {
    if (held.lose) {
      held.lose()
      return held.release
    }
    lostHolders.change(key, 1)
    held.release()
    return () => lostHolders.change(key, -1)
  }
  const releaseLock = (id: number) => {
    releases.get(id)?.()
    releases.delete(id)
  }
  const answers = {
    async takeLock({ key }: { readonly key: string }) {
      const id = count++
      const held = await lock(key)
      if (isGone) {
        held.release()
        return { id, lostHolders: 0, isSameHolder: false }
      }
      const isSameHolder = held.isSameHolder && lastHolders.get(key) === releases
      lastHolders.set(key, releases)
      const answer = { id, lostHolders: held.lostHolders + lostHolders.count(key), isSameHolder }
      const endLease = start(leaseMs, () => {
        const release = lose(key, held)
        releases.set(id, () => {
          release()
          // The worker may have changed something until now.
          lastHolders.delete(key)
        })
      })
      releases.set(id, () => {
        endLease()
        held.release()
      })
      return answer
    },
    releaseLock: ({ id }: { readonly id: number }) => releaseLock(id),
  }
  return {
    answers,
    end() {
      isGone = true
      start(outlivedMs, () => {
        for (const id of [...releases.keys()]) releaseLock(id)
      })
    },
  }
}

/** Runs `run` after `ms` milliseconds, unless what it returns is called before. */
export type StartTimer = (ms: number, run: () => void) => () => void

/**
 * How long a worker may hold a name or a lock while it publishes or deletes, in milliseconds: longer than stores wait for their
 * servers. A worker that takes longer has been suspended, and might hold it forever.
 */
export const leaseMs = 60_000

/**
 * How long a request to MinIO may outlive the worker that sent it, in milliseconds: when a worker is killed, MinIO still executes
 * the requests that are on their way.
 */
export const outlivedMs = 5_000

export const startTimer: StartTimer = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** The requests about held keys that a worker may send. */
export type HoldHandlers = {
  /** Makes all other workers wait before they publish under the key; resolves when their publications under way have ended. */
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
  /** Holds in the worker what others hold now. Call it before the worker opens its store. */
  begin(): void
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
  const holds = new Set<Hold>()
  /** Resolves when nothing is under way of workers that have ended. */
  let outlived: Promise<unknown> = Promise.resolve()

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
      await outlived
      const hold = { key, workers: [...workers()].filter((worker) => worker !== own()) }
      const free = () => {
        holds.delete(hold)
        for (const worker of hold.workers) worker.notify('unhold', { key })
        unlock()
      }
      holds.add(hold)
      try {
        const patience = AbortSignal.timeout(patienceMs)
        await Promise.all(hold.workers.map((worker) => worker.ask('hold', { key }, patience)))
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
      begin() {
        for (const { key, workers: holding } of holds) {
          holding.push(own())
          own().notify('hold', { key })
        }
      },
      end() {
        isGone = true
        const last = new Promise<void>((resolve) => {
          start(outlivedMs, () => {
            ;[...frees.keys()].forEach(freeKey)
            resolve()
          })
        })
        outlived = Promise.all([outlived, last])
      },
    }
  }
}

/** A key that a worker holds, or is about to hold, in the other `workers`. */
interface Hold {
  readonly key: string
  readonly workers: RpcChannel<HoldingHandlers>[]
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
      onHold(hold) {
        holdHere = hold
        // What others have held since before this store was open.
        for (const key of held.keys()) held.set(key, hold(key))
      },
    },
  }
}
