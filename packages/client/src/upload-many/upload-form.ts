import { HoldfastError, isHoldfastError } from '../errors/holdfast-error.ts'
import { ownAnswers } from '../requests/own-answers.ts'
import type { Requests } from '../requests/requests.ts'
import { isTransient, withRetries, type Patience } from '../requests/with-retries.ts'
import { hasStoredNothing } from '../upload/has-stored-nothing.ts'
import { batchLines, type BatchLine } from '../requests/batch-lines.ts'
import { formOf, type SmallFile } from './form-of.ts'
import type { FileUploaded, UploadManyOptions } from './upload-many-options.ts'

/** What is known of the files of a form. */
export interface FormUploaded {
  /** In the order of the files. */
  readonly results: readonly (FileUploaded | undefined)[]
  /** Why nothing is known of the other files. */
  readonly failure: { readonly error: unknown } | undefined
}

/** A file that has no answer yet, and where it is in the form. */
interface WaitingFile extends SmallFile {
  readonly at: number
}

/** Uploads the files in one request, and in another one those that need it where that is safe. Never rejects. */
export async function uploadForm(
  requests: Requests,
  patience: Patience,
  files: readonly SmallFile[],
  options: UploadManyOptions,
): Promise<FormUploaded> {
  const { createOnly = false, signal } = options
  const mayRepeat = createOnly ? hasStoredNothing : isTransient
  const results: (FileUploaded | undefined)[] = files.map(() => undefined)
  let waiting: readonly WaitingFile[] = files.map((file, at) => ({ ...file, at }))

  /** Takes the answers of one request; resolves to what was wrong with it. */
  const takeAnswers = async (lines: AsyncIterable<BatchLine>): Promise<unknown> => {
    const again: WaitingFile[] = []
    let asked = 0
    let refusal: unknown
    let failure: unknown
    try {
      for await (const { filename, error, etag } of lines) {
        const file = waiting[asked]
        if (file === undefined || filename !== file.name || isCut(error)) {
          throw error ?? new HoldfastError('unknown', 'The answer is about other files')
        }
        asked++
        if (error !== undefined && mayRepeat(error)) {
          again.push(file)
          refusal = error
        } else
          results[file.at] = error ? { name: file.name, error } : { name: file.name, error, etag }
      }
    } catch (error) {
      failure = isCut(error) ? new CutError(error) : error
    }
    const unanswered = waiting.slice(asked)
    waiting = [...again, ...unanswered]
    // What was refused says nothing of those without an answer.
    return failure ?? (unanswered.length > 0 ? brokenOff() : refusal)
  }

  try {
    await withRetries(
      patience,
      signal,
      async (retries) => {
        const form = formOf(waiting)
        const before = waiting.length
        const response = await requests.send({
          method: 'POST',
          url: requests.urlOf('upload/batch'),
          expects: ownAnswers.batch,
          headers: { 'Content-Type': form.type, ...(createOnly && { 'If-None-Match': '*' }) },
          body: form.bytes,
          size: form.bytes.length,
          isAnsweredMeanwhile: true,
          signal,
        })
        const failure = await takeAnswers(batchLines(response.body))
        if (waiting.length < before) retries.hasProgressed()
        if (waiting.length > 0) throw failure
      },
      (error) => error instanceof CutError || mayRepeat(error),
    )
    return { results, failure: undefined }
  } catch (error) {
    return { results, failure: { error } }
  }
}

/** A form that did not arrive as it was sent: the server has stored neither the file that was arriving, nor those after it. */
class CutError extends HoldfastError {
  constructor(cause: unknown) {
    super('no-answer', 'The form did not arrive as a whole', { cause })
  }
}

function isCut(error: unknown): boolean {
  return isHoldfastError(error, 'malformed-multipart', 'too-slow')
}

const brokenOff = () => new HoldfastError('no-answer', 'The answer ends before its last line')
