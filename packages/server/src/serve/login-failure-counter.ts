import { createHash } from 'node:crypto'
import type { FailureCounter } from '@holdfast/core'
import { RateLimiterMemory } from 'rate-limiter-flexible'

/**
 * A failure counter of this process, which forgets each key by itself when its window is over. Keys are kept as digests, so that long
 * names cost no more than short ones.
 */
export function createLoginFailureCounter(windowMs: number): FailureCounter {
  // Only counted here; how many are too many is the core's to say.
  const limiter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: windowMs / 1000,
  })
  const digest = (key: string) => createHash('sha256').update(key).digest('base64url')
  return {
    async read(key) {
      const window = await limiter.get(digest(key))
      return {
        failures: window?.consumedPoints ?? 0,
        forgottenInMs: Math.max(0, window?.msBeforeNext ?? 0),
      }
    },
    async add(key) {
      await limiter.consume(digest(key))
    },
  }
}
