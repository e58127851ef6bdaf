import { FileServiceError } from '@holdfast/core'
import { createWaitingLines } from './waiting-lines.ts'

export interface HashingQueueOptions {
  /** Computations at a time. */
  readonly concurrency: number
  /** Verifications that may wait beside those. */
  readonly limit: number
}

/** Who wants a verification. */
export interface HashingRequest {
  /** Equal for equal verifications. */
  readonly key: string
  /** In whose line it waits. */
  readonly address: string
  /** Aborts when it is not wanted any more. */
  readonly signal?: AbortSignal | undefined
}

export interface HashingQueue {
  /**
   * Runs `verify` when its turn comes: addresses take turns, and of one address it is first come first served. As soon
   * as any verification of the same `key` has come out true, those of that key still waiting resolve to `true` without
   * running; when it comes out false, or fails, nothing is shared. When the signal aborts it leaves the queue and
   * rejects with the signal's reason; once running, it goes on.
   *
   * @throws FileServiceError `overloaded` when too many wait: the latest of the address of which most do.
   */
  run(request: HashingRequest, verify: () => Promise<boolean>): Promise<boolean>
}

interface Waiting {
  readonly key: string
  readonly start: () => void
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
}

const retryAfterMs = 1_000

/**
 * A bounded queue of password verifications.
 *
 * Only success is shared; until then each verification holds a place of its own. Shared failures would reveal which
 * customers exist: many wrong passwords for a known customer would need one computation, and those for unknown customers,
 * who have no hash, always one or always many.
 */
export function createHashingQueue({ concurrency, limit }: HashingQueueOptions): HashingQueue {
  const lines = createWaitingLines<Waiting>()
  let running = 0

  const succeedAll = (key: string) => {
    for (const one of lines.takeAll((each) => each.key === key)) one.succeed()
  }

  const runNow = async (key: string, verify: () => Promise<boolean>) => {
    running++
    try {
      const verified = await verify()
      if (verified) succeedAll(key)
      return verified
    } finally {
      running--
      lines.takeNext()?.start()
    }
  }

  const overloaded = () =>
    new FileServiceError('overloaded', `More than ${limit} logins are waiting`, { retryAfterMs })

  const makeRoom = (address: string) => {
    if (lines.size < limit) return
    const surplus = lines.takeSurplus(address)
    if (surplus === undefined) throw overloaded()
    surplus.fail(overloaded())
  }

  const wait = ({ key, address, signal }: HashingRequest, verify: () => Promise<boolean>) =>
    new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        lines.leave(address, one)
        one.fail(signal?.reason)
      }
      /** The signal may be that of a connection, which lives on. */
      const whenCalled = <Args extends unknown[]>(act: (...args: Args) => void) => {
        return (...args: Args) => {
          signal?.removeEventListener('abort', leave)
          act(...args)
        }
      }
      const one: Waiting = {
        key,
        start: whenCalled(() => void runNow(key, verify).then(resolve, reject)),
        succeed: whenCalled(() => resolve(true)),
        fail: whenCalled(reject),
      }
      signal?.addEventListener('abort', leave, { once: true })
      lines.join(address, one)
    })

  return {
    async run(request, verify) {
      request.signal?.throwIfAborted()
      if (running < concurrency) return runNow(request.key, verify)
      makeRoom(request.address)
      return wait(request, verify)
    },
  }
}
