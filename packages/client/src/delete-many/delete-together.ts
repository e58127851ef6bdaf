import { HoldfastError, isHoldfastError } from '../errors/holdfast-error.ts'
import { batchLines } from '../requests/batch-lines.ts'
import { ownAnswers } from '../requests/own-answers.ts'
import type { Requests } from '../requests/requests.ts'
import { createRetries, isTransient, type Patience } from '../requests/with-retries.ts'
import { hasStoredNothing } from '../upload/has-stored-nothing.ts'
import type { DeleteOptions, FileDeleted } from './delete-options.ts'

/** One of the names, and what is known of its file. */
interface NamedFile {
  readonly name: string
  result?: FileDeleted
  /** Why a request did not delete it, where another one may. */
  refusal?: HoldfastError
  /** Whether a request may have deleted it whose answer was lost. */
  mayBeDeleted: boolean
}

/**
 * Deletes the files by one request, and by further ones those without an answer and those whose refusal may pass. Yields
 * results as they come, in the order of `names`.
 *
 * @throws what ended the last request, after all results that are known
 */
export async function* deleteTogether(
  requests: Requests,
  patience: Patience,
  names: readonly string[],
  options: DeleteOptions,
): AsyncGenerator<FileDeleted, void> {
  const files = names.map((name): NamedFile => ({ name, mayBeDeleted: false }))
  const retries = createRetries(patience, options.signal)
  const left = () => files.filter(({ result }) => result === undefined)
  let next = 0
  function* known() {
    for (let file = files[next]; file?.result; file = files[++next]) yield file.result
  }

  for (let waiting = left(); waiting.length > 0; waiting = left()) {
    let failure: { readonly error: unknown } | undefined
    try {
      for await (const _ of ask(requests, waiting, options)) yield* known()
    } catch (error) {
      failure = { error }
      const isUndone = hasStoredNothing(error) || patience.isOutdated(error)
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

/** Sends one request for the files; yields after each line of the answer, of which it notes the result or the refusal. */
async function* ask(
  requests: Requests,
  files: readonly NamedFile[],
  { keepalive = false, signal }: DeleteOptions,
): AsyncGenerator<void, void> {
  const body = new TextEncoder().encode(JSON.stringify(files.map(({ name }) => name)))
  const response = await requests.send({
    method: 'POST',
    url: requests.urlOf('delete/batch'),
    expects: ownAnswers.batch,
    headers: { 'Content-Type': 'application/json' },
    body,
    size: body.length,
    keepalive,
    signal,
  })
  let answered = 0
  for await (const { filename, error } of batchLines(response.body)) {
    const file = files[answered]
    if (file === undefined || filename !== file.name) {
      throw error ?? new HoldfastError('unknown', 'The answer is about other files')
    }
    answered++
    note(file, error)
    yield
  }
  if (answered < files.length) {
    throw new HoldfastError('no-answer', 'The answer ends before its last line')
  }
}

function note(file: NamedFile, error: HoldfastError | undefined): void {
  const { name } = file
  if (error === undefined) file.result = { name, error }
  else if (isTransient(error)) {
    file.refusal = error
    file.mayBeDeleted = true
  } else {
    // An earlier request deleted it.
    const isGone = file.mayBeDeleted && isHoldfastError(error, 'not-found')
    file.result = { name, error: isGone ? undefined : error }
  }
}
