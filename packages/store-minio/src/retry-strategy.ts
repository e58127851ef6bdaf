import type { RetryErrorInfo, RetryStrategyV2, RetryToken } from '@smithy/types'
import { failureOf, isFull } from './s3-errors.ts'

/** Retries of a request to a server that cannot be reached: it is soon to be told to whoever waits. */
const retriesUnanswered = 2

/** Retries of a request that a server was silent at: that has taken long enough already. */
const retriesSilent = 1

/**
 * Retries of a request that a server has answered, with "not now": a cluster that has lost a node finds its quorum again
 * within some ten seconds.
 */
const retriesAnswered = 7

const shortestPauseMs = 100
const longestPauseMs = 4000

/**
 * When the S3 client asks again: what a server or the way to it has failed at, and no mistake of ours. The pauses grow
 * from tenths of a second to seconds, and are cut at random, so that many clients do not come back all at once. In all,
 * up to 0.6 seconds for a server that cannot be reached, up to 14 for one that answers.
 */
export function createRetryStrategy(random: () => number = Math.random): RetryStrategyV2 {
  return {
    acquireInitialRetryToken: async () => tokenOf(0, 0),
    async refreshRetryTokenForRetry(token, failure) {
      const count = token.getRetryCount() + 1
      if (count > retriesFor(failure)) throw new Error('Enough has been tried')
      const pause = Math.min(shortestPauseMs * 2 ** count, longestPauseMs)
      return tokenOf(count, Math.ceil(random() * pause))
    },
    recordSuccess: () => {},
  }
}

function retriesFor({ error, errorType }: RetryErrorInfo): number {
  const { code, status } = failureOf(error)
  // So says a node that has just come back and does not know yet what the others have.
  if (code === 'InvalidPart') return retriesAnswered
  // What a server does not know at all (501), it will not have learned a moment later.
  if (errorType === 'CLIENT_ERROR' || isFull(error) || status === 501) return 0
  if (code === 'ETIMEDOUT') return retriesSilent
  return status === 429 || status >= 500 ? retriesAnswered : retriesUnanswered
}

function tokenOf(count: number, delayMs: number): RetryToken {
  return { getRetryCount: () => count, getRetryDelay: () => delayMs }
}
