import {
  isHoldfastError,
  type HoldfastError,
  isConnectionRefused,
} from '../shared/holdfast-error.ts'

/** The policy of retries. */
export interface RetryPolicy {
  /** How often a request is sent again; 0 for never. */
  readonly retries: number
  /** How often, if nothing listens at the address. */
  readonly retriesIfRefused: () => number
  /** Called before each wait. */
  readonly onRetry: ((retry: Retry) => void) | undefined
  /** Whether an error only means that the password has changed: the request is then sent again at once, and this does not count. */
  readonly passwordHasChanged: (error: unknown) => boolean
}

/** A failed request that will be sent again. */
export interface Retry {
  readonly error: HoldfastError
  /** Milliseconds until then. */
  readonly delayMs: number
}

const firstDelayMs = 500
const longestDelayMs = 16_000
/** The longest `Retry-After` to wait for. */
const longestRetryAfterMs = 60_000

/** The retries that are left for one operation. */
export interface Retries {
  /** Resets the count of retries. */
  hasProgressed(): void
  /**
   * Waits until it is time for a retry.
   *
   * @throws the given error, if a retry is useless
   */
  wait(error: unknown): Promise<void>
}

export function createRetries(
  { retries, retriesIfRefused, onRetry, passwordHasChanged }: RetryPolicy,
  signal: AbortSignal | undefined,
  mayRepeat: (error: unknown) => boolean = isTransient,
): Retries {
  let failures = 0
  return {
    hasProgressed: () => void (failures = 0),
    async wait(error) {
      if (passwordHasChanged(error)) return
      const most = isConnectionRefused(error) ? retriesIfRefused() : retries
      if (!isHoldfastError(error) || !mayRepeat(error) || failures >= most) throw error
      const delayMs = delayAfter(failures++, error)
      if (delayMs > longestRetryAfterMs) throw error
      onRetry?.({ error, delayMs })
      await pause(delayMs, signal)
    },
  }
}

/**
 * Repeats an operation as long as its errors are transient.
 *
 * @throws the last error
 */
export async function withRetries<T>(
  retryPolicy: RetryPolicy,
  signal: AbortSignal | undefined,
  operate: (retries: Retries) => Promise<T>,
  mayRepeat?: (error: unknown) => boolean,
): Promise<T> {
  const retries = createRetries(retryPolicy, signal, mayRepeat)
  while (true) {
    try {
      return await operate(retries)
    } catch (error) {
      await retries.wait(error)
    }
  }
}

/** Whether the same request may succeed later without any other action: no answer, 408, 409, 429, 502, 503 or 504. */
export function isTransient(error: unknown): error is HoldfastError {
  if (!isHoldfastError(error)) return false
  return error.code === 'no-answer' || [408, 409, 429, 502, 503, 504].includes(error.status)
}

/** Doubles with each failure. Random, so that the clients of a server that restarts do not all come at once. */
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
