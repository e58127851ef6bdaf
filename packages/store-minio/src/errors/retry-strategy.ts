import type { RetryStrategyV2, RetryToken } from '@smithy/types'
import { failureOf, isAnswer, isFull, mayBeDone } from './s3-errors.ts'

/** Retries of a request to an unreachable server: few, so that the client gets its answer soon. */
const retriesUnanswered = 2

/** Retries of a request that timed out: one, since the first try has taken long already. */
const retriesSilent = 1

/**
 * Retries of a request that the server has answered with "not now": a cluster that has lost a node finds its quorum again within some ten
 * seconds.
 */
const retriesAnswered = 7

/**
 * How long to wait, in ms, before repeating a request for a multipart upload that the store calls unknown. A node of a cluster that has
 * just lost another node, or has just come back itself, may say so of an existing upload.
 */
export const pausesForUpload: readonly number[] = [300, 1000, 3000]

const shortestPauseMs = 100
const longestPauseMs = 4000

export interface RetryStrategyOptions {
  /** Whether to repeat requests that the server may have carried out. Default: yes. */
  readonly repeatsDoubtful?: boolean
}

/**
 * Makes the retry strategy of the S3 client: it repeats requests after failures of the server or the network, not after our own mistakes.
 * The pauses grow from tenths of a second to seconds, and are shortened at random, so that many clients do not come back at once. In all,
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
 * How long to wait, in ms, before the repetition `count`, from 1, of a request that the server may have carried out, or has refused
 * because of its state; `undefined` if it must not be repeated.
 */
export function pauseBeforeRepeating(error: unknown, count: number): number | undefined {
  if (isAnswer(error, 'NoSuchUpload')) return pausesForUpload[count - 1]
  const isStale = isAnswer(error, 'PreconditionFailed')
  const limit = isStale ? retriesUnanswered : mayBeDone(error) ? retriesFor({ error }) : 0
  return count <= limit ? pauseBefore(count, Math.random) : undefined
}

function retriesFor({ error, errorType }: { error?: unknown; errorType?: string }): number {
  const { code, status } = failureOf(error)
  // A node that has just come back and does not know yet what the others have answers this.
  if (code === 'InvalidPart') return retriesAnswered
  // A server that does not implement a request (501) will not do so a moment later.
  if (errorType === 'CLIENT_ERROR' || isFull(error) || status === 501) return 0
  if (code === 'ETIMEDOUT') return retriesSilent
  return status === 429 || status >= 500 ? retriesAnswered : retriesUnanswered
}

function tokenOf(count: number, delayMs: number): RetryToken {
  return { getRetryCount: () => count, getRetryDelay: () => delayMs }
}
