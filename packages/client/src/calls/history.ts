import type { DeletedFile, FileVersion } from '../api/description.ts'
import { expectedAnswers, isDeletedFile, isFileVersion } from '../requests/answers.ts'
import type { Requests } from '../requests/requests.ts'
import { withRetries, type RetryPolicy } from '../requests/with-retries.ts'
import { hasStoredNothing } from '../shared/holdfast-error.ts'
import { requireName } from '../shared/require.ts'
import { pagesOf, type PageOptions } from './list.ts'

export interface VersionsOptions extends Pick<PageOptions, 'pageSizes'> {
  /** Only versions older than this one, which need not exist any more. */
  readonly before?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface RestoreOptions {
  /** Which version to restore. Default: what was replaced or deleted last. */
  readonly version?: string | undefined
  /** The name to restore it under. Default: its own. */
  readonly as?: string | undefined
  /** Whether to reject with `already-exists` instead of replacing a file of the name. Default: false. */
  readonly createOnly?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export async function* listVersions(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  { before = '', ...options }: VersionsOptions,
): AsyncGenerator<FileVersion, void> {
  requireName(name)
  const pages = pagesOf<FileVersion>(requests, retryPolicy, options, {
    url: requests.urlOfFile('versions', name),
    first: before,
    cursor: 'before',
    isEntry: isFileVersion,
    keyOf: ({ version }) => version,
  })
  for await (const page of pages) yield* page
}

export async function* listDeleted(
  requests: Requests,
  retryPolicy: RetryPolicy,
  { after = '', prefix, ...options }: PageOptions,
): AsyncGenerator<DeletedFile, void> {
  const pages = pagesOf<DeletedFile>(requests, retryPolicy, options, {
    url: requests.urlOf('deleted'),
    first: after,
    cursor: 'after',
    isEntry: isDeletedFile,
    keyOf: ({ name }) => name,
    ...(prefix !== undefined && { parameters: { prefix } }),
  })
  for await (const page of pages) yield* page
}

/**
 * Restores a file. A request that may have done so is repeated only if it names the version and may replace: the second one of a request
 * for the last version would restore the file that the first one has replaced.
 */
export async function restore(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  { version, as, createOnly = false, signal }: RestoreOptions,
): Promise<void> {
  if (as !== undefined) requireName(as)
  const request = {
    method: 'POST',
    url: requests.urlOfFile('restore', name),
    headers: { 'Content-Type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ version, as, createOnly })),
    expects: expectedAnswers.stored,
    signal,
  }
  const isRepeatable = version !== undefined && !createOnly
  const mayRepeat = isRepeatable ? undefined : hasStoredNothing
  await withRetries(retryPolicy, signal, () => requests.send(request), mayRepeat)
}
