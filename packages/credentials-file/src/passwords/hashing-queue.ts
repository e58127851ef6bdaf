import { FileServiceError } from '@holdfast/core'

export interface HashingQueueOptions {
  /** Computations at a time. */
  readonly concurrency: number
  /** Verifications that may wait beside those. */
  readonly limit: number
}

export interface HashingQueue {
  /**
   * Runs `verify` when its turn comes, first come first served. As soon as any verification of the same `key` has come
   * out true, those of that key still waiting resolve to `true` without running; when it comes out false, or fails,
   * nothing is shared.
   *
   * @throws FileServiceError `overloaded` when too many wait.
   */
  run(key: string, verify: () => Promise<boolean>): Promise<boolean>
}

interface Waiting {
  readonly key: string
  readonly start: () => void
  readonly succeed: () => void
}

const retryAfterMs = 1_000

/**
 * A bounded queue of password verifications.
 *
 * Only success is shared, and each verification holds a place of its own until then. Sharing failures too would tell
 * strangers who exists: many wrong passwords for one known customer would be one computation, and for unknown ones,
 * who have no hash to be told apart by, either always one or never.
 */
export function createHashingQueue({ concurrency, limit }: HashingQueueOptions): HashingQueue {
  let waiting: Waiting[] = []
  let running = 0

  const settleWaiting = (key: string) => {
    const shared = waiting.filter((one) => one.key === key)
    if (shared.length === 0) return
    waiting = waiting.filter((one) => one.key !== key)
    for (const one of shared) one.succeed()
  }

  const runNow = async (key: string, verify: () => Promise<boolean>) => {
    running++
    try {
      const verified = await verify()
      if (verified) settleWaiting(key)
      return verified
    } finally {
      running--
      waiting.shift()?.start()
    }
  }

  return {
    async run(key, verify) {
      if (running < concurrency) return runNow(key, verify)
      if (waiting.length >= limit) {
        throw new FileServiceError('overloaded', `More than ${limit} logins are waiting`, {
          retryAfterMs,
        })
      }
      return new Promise((resolve, reject) => {
        const start = () => void runNow(key, verify).then(resolve, reject)
        waiting.push({ key, start, succeed: () => resolve(true) })
      })
    },
  }
}
