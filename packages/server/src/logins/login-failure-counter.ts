import type { FailureCount, FailureCounter } from '@holdfast/core'
// Not by way of the package's index, which loads those for all databases, and the cluster module.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import { failureKey } from './failure-key.ts'

/**
 * A failure counter of this process, with a window of `windowMs` (at most 2^31 - 1), which forgets each key by itself
 * when its window is over, and does not keep the process alive for that. Long keys are kept as digests, so that they
 * cost little more than short ones. Who fails in vain without end cannot fill the memory either: each failure has cost
 * one password hash, so the hashing's concurrency bounds how many fit into a window, to some thousands.
 */
export function createLoginFailureCounter(windowMs: number): FailureCounter {
  // Only counted here; how many are too many is the core's to say.
  const limiter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: windowMs / 1000,
  })
  let latestFailure: number | undefined
  const lookUp = async (key: string): Promise<FailureCount> => {
    const window = await limiter.get(failureKey(key))
    const forgottenInMs = window?.msBeforeNext ?? 0
    // The limiter's timer may be late, in a busy process.
    if (window === null || forgottenInMs <= 0) return none
    return { failures: window.consumedPoints, forgottenInMs }
  }

  return {
    // The usual cases, at every request: no failure ever, or none lately.
    read: (key) =>
      latestFailure === undefined || performance.now() - latestFailure > windowMs
        ? none
        : lookUp(key),
    async add(key) {
      latestFailure = performance.now()
      await limiter.consume(failureKey(key))
    },
  }
}

const none: FailureCount = { failures: 0, forgottenInMs: 0 }
