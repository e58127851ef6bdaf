import { isHoldfastError, type HoldfastError } from '../shared/holdfast-error.ts'
import { isRefused } from './no-answer.ts'

/** What is tried again, and until when. */
export interface Patience {
  /** How often a request is sent again; 0 for never. */
  readonly retries: number
  /** How often, where nothing listens at the address. */
  readonly refusals: () => number
  /** Called before each wait. */
  readonly onRetry: ((retry: Retry) => void) | undefined
  /** Whether an error says only that the password was another one: the same request is sent at once, and not counted. */
  readonly isOutdated: (error: unknown) => boolean
}

/** A request that failed and is sent again. */
export interface Retry {
  readonly error: HoldfastError
  /** In how many milliseconds. */
  readonly delayMs: number
}

const firstDelayMs = 500
const longestDelayMs = 16_000
/** A server that wants more time than this is left alone. */
const longestPatienceMs = 60_000

/** The patience that is left for something that may be done more than once. */
export interface Retries {
  /** Makes the patience whole again. */
  hasProgressed(): void
  /**
   * Waits until it is time to try again.
   *
   * @throws what it is given, where another try is of no use
   */
  wait(error: unknown): Promise<void>
}

export function createRetries(
  { retries, refusals, onRetry, isOutdated }: Patience,
  signal: AbortSignal | undefined,
  mayRepeat: (error: unknown) => boolean = isTransient,
): Retries {
  let failures = 0
  return {
    hasProgressed: () => void (failures = 0),
    async wait(error) {
      if (isOutdated(error)) return
      const most = isRefused(error) ? refusals() : retries
      if (!isHoldfastError(error) || !mayRepeat(error) || failures >= most) throw error
      const delayMs = delayAfter(failures++, error)
      if (delayMs > longestPatienceMs) throw error
      onRetry?.({ error, delayMs })
      await pause(delayMs, signal)
    },
  }
}

/**
 * Does something again and again while what hinders it may pass.
 *
 * @throws the last error
 */
export async function withRetries<T>(
  patience: Patience,
  signal: AbortSignal | undefined,
  operate: (retries: Retries) => Promise<T>,
  mayRepeat?: (error: unknown) => boolean,
): Promise<T> {
  const retries = createRetries(patience, signal, mayRepeat)
  while (true) {
    try {
      return await operate(retries)
    } catch (error) {
      await retries.wait(error)
    }
  }
}

/** Whether the same request may succeed later, without anything else being done: no answer, 408, 409, 429, 502, 503 or 504. */
export function isTransient(error: unknown): error is HoldfastError {
  if (!isHoldfastError(error)) return false
  return error.code === 'no-answer' || [408, 409, 429, 502, 503, 504].includes(error.status)
}

/** Twice as long each time, and never the same for all clients of a server that comes back. */
function delayAfter(failures: number, { retryAfter }: HoldfastError): number {
  const own = Math.min(firstDelayMs * 2 ** failures, longestDelayMs) * (0.5 + Math.random() / 2)
  return Math.max(own, (retryAfter ?? 0) * 1000)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const abort = () => {
      end()
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      end()
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort)
  })
}
