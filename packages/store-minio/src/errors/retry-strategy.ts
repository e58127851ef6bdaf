import type { RetryStrategyV2, RetryToken } from '@smithy/types'
import { failureOf, isAnswer, isFull, mayBeDone } from './s3-errors.ts'

/** Retries of a request to an unreachable server: few, so that the client soon gets its answer. */
const retriesUnanswered = 2

/** Retries of a request that timed out: one, since the first has taken long already. */
const retriesSilent = 1

/**
 * Retries of a request that a server has answered, with "not now": a cluster that has lost a node finds its quorum again
 * within some ten seconds.
 */
const retriesAnswered = 7

/**
 * Milliseconds before what belongs to a multipart upload is repeated when the store says that there is no such upload: a
 * node of a cluster that has just lost another, or has come back itself, may say so of one that is there.
 */
export const pausesForUpload: readonly number[] = [300, 1000, 3000]

const shortestPauseMs = 100
const longestPauseMs = 4000

export interface RetryStrategyOptions {
  /** Whether to repeat requests that the server may have carried out. Default: yes. */
  readonly repeatsDoubtful?: boolean
}

/**
 * When the S3 client asks again: what a server or the way to it has failed at, and no mistake of ours. The pauses grow
 * from tenths of a second to seconds, and are cut at random, so that many clients do not come back all at once. In all,
 * up to 0.6 seconds for a server that cannot be reached, up to 14 for one that answers.
 */
export function createRetryStrategy(
  random: () => number = Math.random,
  { repeatsDoubtful = true }: RetryStrategyOptions = {},
): RetryStrategyV2 {
  return {
    acquireInitialRetryToken: async () => tokenOf(0, 0),
    async refreshRetryTokenForRetry(token, failure) {
      const count = token.getRetryCount() + 1
      const isAllowed = repeatsDoubtful || !mayBeDone(failure.error)
      if (!isAllowed || count > retriesFor(failure)) throw new Error('Enough has been tried')
      return tokenOf(count, pauseBefore(count, random))
    },
    recordSuccess: () => {},
  }
}

function pauseBefore(count: number, random: () => number): number {
  return Math.ceil(random() * Math.min(shortestPauseMs * 2 ** count, longestPauseMs))
}

/**
 * How long to wait before a request is repeated for the time `count`, from 1, that the server may have carried out or has
 * refused by the state that it is in; in milliseconds. `undefined` where it is not to be repeated.
 */
export function pauseBeforeRepeating(error: unknown, count: number): number | undefined {
  if (isAnswer(error, 'NoSuchUpload')) return pausesForUpload[count - 1]
  const isStale = isAnswer(error, 'PreconditionFailed')
  const limit = isStale ? retriesUnanswered : mayBeDone(error) ? retriesFor({ error }) : 0
  return count <= limit ? pauseBefore(count, Math.random) : undefined
}

function retriesFor({ error, errorType }: { error?: unknown; errorType?: string }): number {
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
