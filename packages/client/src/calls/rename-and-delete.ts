import { requireIterable, requireName } from '../shared/require.ts'
import type { Requests } from '../requests/requests.ts'
import {
  type RetryPolicy,
  createRetries,
  isTransient,
  withRetries,
} from '../requests/with-retries.ts'
import { type HoldfastError, isHoldfastError, hasStoredNothing } from '../shared/holdfast-error.ts'
import { batchLines, expectedAnswers } from '../requests/answers.ts'

export interface DeleteOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Whether a browser finishes the request even if the page is closed meanwhile. Browsers refuse it if the bodies of all such requests
   * together are larger than 64 KiB. Default: false.
   */
  readonly keepalive?: boolean | undefined
}

/** The outcome of one of many files. */
export interface FileDeleted {
  readonly name: string
  /** Why the file was not deleted, such as `not-found`; `undefined`: it is deleted for good. */
  readonly error: Error | undefined
}

/** The most that the server takes in one request. */
const limits = { names: 10_000, bytes: 4 * 1024 ** 2 }

/** Deletes files, as many in a request as the server takes, in the order of `names`. */
export async function* deleteMany(
  requests: Requests,
  retryPolicy: RetryPolicy,
  names: Iterable<string> | AsyncIterable<string>,
  options: DeleteOptions,
): AsyncGenerator<FileDeleted, void> {
  requireIterable('The names', names)
  const encoder = new TextEncoder()
  let batch: string[] = []
  let bytes = 0
  for await (const name of names) {
    options.signal?.throwIfAborted()
    requireName(name)
    // Including a comma, or a bracket.
    const size = encoder.encode(JSON.stringify(name)).length + 1
    if (batch.length === limits.names || bytes + size >= limits.bytes) {
      yield* deleteBatch(requests, retryPolicy, batch, options)
      batch = []
      bytes = 0
    }
    batch.push(name)
    bytes += size
  }
  yield* deleteBatch(requests, retryPolicy, batch, options)
}

/** One of the names, with what is known about its file. */
interface FileToDelete {
  readonly name: string
  result?: FileDeleted
  /** The error of a request after which another one may delete the file. */
  refusal?: HoldfastError
  /** Whether a request without an answer may have deleted the file. */
  mayBeDeleted: boolean
}

/**
 * Deletes the files in one request, and repeats it for files without an answer or with a transient error. Yields results as they come, in
 * the order of `names`.
 *
 * @throws the error that ended the last request, after all known results
 */
async function* deleteBatch(
  requests: Requests,
  retryPolicy: RetryPolicy,
  names: readonly string[],
  options: DeleteOptions,
): AsyncGenerator<FileDeleted, void> {
  const files = names.map((name): FileToDelete => ({ name, mayBeDeleted: false }))
  const retries = createRetries(retryPolicy, options.signal)
  const left = () => files.filter(({ result }) => result === undefined)
  let next = 0
  function* known() {
    for (let file = files[next]; file?.result; file = files[++next]) yield file.result
  }

  for (let waiting = left(); waiting.length > 0; waiting = left()) {
    let failure: { readonly error: unknown } | undefined
    try {
      for await (const _ of requestDeletions(requests, waiting, options)) yield* known()
    } catch (error) {
      failure = { error }
      const isUndone = hasStoredNothing(error) || retryPolicy.passwordHasChanged(error)
      for (const file of waiting) file.mayBeDeleted ||= !isUndone
    }
    const unanswered = left()
    if (unanswered.length === 0) return
    if (unanswered.length < waiting.length) retries.hasProgressed()
    try {
      await retries.wait(failure ? failure.error : unanswered[0]?.refusal)
    } catch (error) {
      for (const file of unanswered) {
        if (file.refusal) file.result = { name: file.name, error: file.refusal }
      }
      yield* files.slice(next).flatMap(({ result }) => result ?? [])
      if (failure) throw error
      return
    }
  }
}

/** Sends one request for the files; after each line of the answer, stores the file's result or error, and yields. */
async function* requestDeletions(
  requests: Requests,
  files: readonly FileToDelete[],
  { keepalive = false, signal }: DeleteOptions,
): AsyncGenerator<void, void> {
  const body = new TextEncoder().encode(JSON.stringify(files.map(({ name }) => name)))
  const response = await requests.send({
    method: 'POST',
    url: requests.urlOf('delete/batch'),
    expects: expectedAnswers.batch,
    headers: { 'Content-Type': 'application/json' },
    body,
    size: body.length,
    keepalive,
    signal,
  })
  for await (const { file, error } of batchLines(response.body, files)) {
    recordResult(file, error)
    yield
  }
}

function recordResult(file: FileToDelete, error: HoldfastError | undefined): void {
  const { name } = file
  if (error === undefined) file.result = { name, error }
  else if (isTransient(error)) {
    file.refusal = error
    file.mayBeDeleted = true
  } else {
    // An earlier request, whose answer was lost, deleted it.
    const isGone = file.mayBeDeleted && isHoldfastError(error, 'not-found')
    file.result = { name, error: isGone ? undefined : error }
  }
}

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
