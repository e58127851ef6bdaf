import type { Requests } from '../requests/requests.ts'
import { expectedAnswers } from '../requests/expected-answers.ts'
import { isTransient, type RetryPolicy, withRetries } from '../requests/with-retries.ts'
import { hasStoredNothing, isHoldfastError } from '../shared/holdfast-error.ts'
import { requireName } from '../shared/require.ts'
import { stat } from './stat.ts'

export interface RenameOptions {
  /** Whether to reject with `already-exists` instead of replacing a file of the new name. Default: false. */
  readonly createOnly?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Renames a file. A request that may have renamed it is not repeated: a second one could rename a file that others have stored under the
 * name since. Instead it looks whether the file has left its name.
 */
export async function rename(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  to: string,
  { createOnly = false, signal }: RenameOptions,
): Promise<void> {
  requireName(to)
  const request = {
    method: 'POST',
    url: requests.urlOfFile('rename', name),
    headers: { 'Content-Type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ to, createOnly })),
    expects: expectedAnswers.stored,
    signal,
  }
  const exists = async (file: string) => {
    try {
      await stat(requests, retryPolicy, file, { isRounded: true, signal })
      return true
    } catch (error) {
      if (isHoldfastError(error, 'not-found')) return false
      throw error
    }
  }
  const mayRepeat = (error: unknown) => isTransient(error) && hasStoredNothing(error)
  try {
    await withRetries(retryPolicy, signal, () => requests.send(request), mayRepeat)
  } catch (error) {
    if (!isTransient(error) || hasStoredNothing(error)) throw error
    const isRenamed = name !== to && !(await exists(name)) && (await exists(to))
    if (!isRenamed) throw error
  }
}
