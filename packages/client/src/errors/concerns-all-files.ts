import { isHoldfastError } from './holdfast-error.ts'

/**
 * Whether an error that came of one file says nothing of that file, so that to go on with the next one is pointless: the server cannot be
 * reached, is no holdfast, is overloaded or without its store, or does not take the login.
 */
export function concernsAllFiles(error: unknown): boolean {
  return isHoldfastError(
    error,
    'no-answer',
    'not-secure',
    'unknown',
    'missing-credentials',
    'invalid-credentials',
    'too-many-attempts',
    'overloaded',
    'store-unavailable',
  )
}
