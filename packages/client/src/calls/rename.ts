import type { Requests } from '../requests/requests.ts'
import { expectedAnswers } from '../requests/answers.ts'
import { type RetryPolicy, withRetries } from '../requests/with-retries.ts'
import { hasStoredNothing } from '../shared/holdfast-error.ts'
import { requireName } from '../shared/require.ts'

export interface RenameOptions {
  /** Whether to reject with `already-exists` instead of replacing a file of the new name. Default: false. */
  readonly createOnly?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Renames a file. A request that may have renamed it is not repeated: a second one could rename a file that others have stored under the
 * name since. Neither does it look where the file is: that another one has the new name, and none the earlier, may have been so before.
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
  await withRetries(retryPolicy, signal, () => requests.send(request), hasStoredNothing)
}
