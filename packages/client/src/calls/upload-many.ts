import {
  concernsAllFiles,
  HoldfastError,
  isHoldfastError,
  hasStoredNothing,
  wrongLength,
} from '../shared/holdfast-error.ts'
import { requireIterable } from '../shared/require.ts'
import type { Requests } from '../requests/requests.ts'
import { type RetryPolicy, isTransient, withRetries } from '../requests/with-retries.ts'
import { expectedAnswers, batchLines, type BatchLine } from '../requests/answers.ts'
import { upload } from './upload.ts'
import {
  type UploadBody,
  type UploadedFile,
  type RereadableBody,
  contentOf,
  isObject,
} from './upload-options.ts'

/** One of many files to upload. */
export interface FileToUpload {
  readonly name: string
  readonly body: UploadBody
  /** The SHA-256 that the content must have, in hexadecimal; otherwise `digest-mismatch`, and nothing has changed. */
  readonly sha256?: string | undefined
}

export interface UploadManyOptions {
  /** Whether a file fails with `already-exists` if its name is taken. Default: false. */
  readonly createOnly?: boolean | undefined
  /** Ends the upload. Files that were stored before stay. */
  readonly signal?: AbortSignal | undefined
}

/** The outcome of one of many files. */
export interface FileUploaded extends Partial<UploadedFile> {
  readonly name: string
  /** Why the file was not stored; `undefined`: it is safe, under its name. */
  readonly error: Error | undefined
}

/** The most that a form holds in memory, and that is sent again after a broken connection. */
const formLimits = {
  bytes: 4 * 1024 ** 2,
  files: 1000,
  /** The most text fields that the server takes in a form. */
  digests: 100,
}

/** Uploads small files many in a request, and others in requests of their own, in their order. */
export async function* uploadMany(
  requests: Requests,
  retryPolicy: RetryPolicy,
  files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
  options: UploadManyOptions,
): AsyncGenerator<FileUploaded, void> {
  requireIterable('The files', files)
  let form: (SmallFile | UnreadFile)[] = []
  const names = new Set<string>()
  const left = { ...formLimits }
  const send = async function* () {
    const sent = form
    form = []
    names.clear()
    Object.assign(left, formLimits)
    yield* uploadEntries(requests, retryPolicy, sent, options)
  }
  for await (const file of files) {
    options.signal?.throwIfAborted()
    const entry = await readSmallFile(file)
    if (entry === undefined) {
      yield* send()
      yield await uploadAlone(requests, retryPolicy, file, options)
      continue
    }
    const [bytes, digests] = 'bytes' in entry ? [entry.bytes.length, entry.sha256 ? 1 : 0] : [0, 0]
    const isFull = left.bytes < bytes || left.digests < digests || left.files < 1
    // If both were in one form, sending the first again could replace the second.
    if (isFull || names.has(file.name)) yield* send()
    names.add(file.name)
    left.bytes -= bytes
    left.digests -= digests
    left.files--
    form.push(entry)
  }
  yield* send()
}

async function* uploadEntries(
  requests: Requests,
  retryPolicy: RetryPolicy,
  entries: readonly (SmallFile | UnreadFile)[],
  options: UploadManyOptions,
): AsyncGenerator<FileUploaded, void> {
  const files = entries.filter((entry) => 'bytes' in entry)
  if (files.length === 0) return yield* entries.filter((entry) => 'error' in entry)
  const { results, failure } = await uploadForm(requests, retryPolicy, files, options)
  let asked = 0
  for (const entry of entries) {
    const result = 'error' in entry ? entry : results[asked++]
    if (result !== undefined) yield result
  }
  if (failure) throw failure.error
}

async function uploadAlone(
  requests: Requests,
  retryPolicy: RetryPolicy,
  { name, body, sha256 }: FileToUpload,
  options: UploadManyOptions,
): Promise<FileUploaded> {
  try {
    const uploaded = await upload(requests, retryPolicy, name, body, { ...options, sha256 })
    return { name, error: undefined, ...uploaded }
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof Error) || concernsAllFiles(error)) throw error
    return { name, error }
  }
}

/** A file whose content cannot be read. */
interface UnreadFile {
  readonly name: string
  readonly error: Error
}

/** A larger file gains nothing from sharing a request. */
const smallSize = 256 * 1024

/** Reads the whole file; `undefined` if it does not fit into a form. */
async function readSmallFile({
  name,
  body,
  sha256,
}: FileToUpload): Promise<SmallFile | UnreadFile | undefined> {
  const isUsual = isNameForForms(name) && (sha256 === undefined || /^[0-9a-f]{64}$/i.test(sha256))
  if (!isUsual || isStream(body)) return undefined
  const content = contentOf(body, AbortSignal.abort())
  if (!('size' in content) || content.size > smallSize) return undefined
  try {
    return { name, bytes: await bytesOf(content), sha256 }
  } catch (error) {
    return { name, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

const isStream = (body: FileToUpload['body']) => isObject(body) && 'getReader' in body

async function bytesOf(content: RereadableBody): Promise<Uint8Array> {
  const { size } = content
  const slice = content.slice(0, size)
  // The caller may use its memory again before the form is sent.
  if (slice instanceof Uint8Array) return new Uint8Array(slice)
  if (slice instanceof Blob) return bytesOfBlob(slice)
  const bytes = new Uint8Array(size)
  let at = 0
  for await (const chunk of slice) {
    if (at + chunk.length > size) throw wrongLength()
    bytes.set(chunk, at)
    at += chunk.length
  }
  if (at < size) throw wrongLength()
  return bytes
}

async function bytesOfBlob(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch (error) {
    throw new HoldfastError('changed-meanwhile', 'The Blob cannot be read', { cause: error })
  }
}

/** The outcome of the files of a form. */
interface FormUploaded {
  /** In the order of the files. */
  readonly results: readonly (FileUploaded | undefined)[]
  /** Why the outcome of the other files is unknown. */
  readonly failure: { readonly error: unknown } | undefined
}

/** A file without an answer yet, and its index in the form. */
interface WaitingFile extends SmallFile {
  readonly at: number
}

/** Uploads the files in one request. Sends those that need it again in another one, if that is safe. Never rejects. */
async function uploadForm(
  requests: Requests,
  retryPolicy: RetryPolicy,
  files: readonly SmallFile[],
  options: UploadManyOptions,
): Promise<FormUploaded> {
  const { createOnly = false, signal } = options
  const mayRepeat = createOnly ? hasStoredNothing : isTransient
  const results: (FileUploaded | undefined)[] = files.map(() => undefined)
  let waiting: readonly WaitingFile[] = files.map((file, at) => ({ ...file, at }))

  /** Reads the answers of one request; resolves with the error of the request. */
  const takeAnswers = async (lines: AsyncIterable<BatchLine<WaitingFile>>): Promise<unknown> => {
    const again: WaitingFile[] = []
    let asked = 0
    let refusal: unknown
    let failure: unknown
    try {
      for await (const { file, error, etag } of lines) {
        if (error && isIncompleteForm(error)) throw error
        asked++
        if (error !== undefined && mayRepeat(error)) {
          again.push(file)
          refusal = error
        } else
          results[file.at] = error ? { name: file.name, error } : { name: file.name, error, etag }
      }
    } catch (error) {
      failure = isIncompleteForm(error) ? new IncompleteFormError(error) : error
    }
    const unanswered = waiting.slice(asked)
    waiting = [...again, ...unanswered]
    // An error of one file does not explain why others have no answer.
    return failure ?? refusal
  }

  try {
    await withRetries(
      retryPolicy,
      signal,
      async (retries) => {
        const form = formOf(waiting)
        const before = waiting.length
        const response = await requests.send({
          method: 'POST',
          url: requests.urlOf('upload/batch'),
          expects: expectedAnswers.batch,
          headers: { 'Content-Type': form.type, ...(createOnly && { 'If-None-Match': '*' }) },
          body: form.bytes,
          size: form.bytes.length,
          isAnsweredMeanwhile: true,
          signal,
        })
        const failure = await takeAnswers(batchLines(response.body, waiting))
        if (waiting.length < before) retries.hasProgressed()
        if (waiting.length > 0) throw failure
      },
      (error) => error instanceof IncompleteFormError || mayRepeat(error),
    )
    return { results, failure: undefined }
  } catch (error) {
    return { results, failure: { error } }
  }
}

/** A form that did not arrive completely: the server has stored neither the file that was arriving, nor those after it. */
class IncompleteFormError extends HoldfastError {
  constructor(cause: unknown) {
    super('no-answer', 'The form did not arrive completely', { cause })
  }
}

function isIncompleteForm(error: unknown): boolean {
  return isHoldfastError(error, 'malformed-multipart', 'too-slow')
}

/** A file of a form. */
interface SmallFile {
  readonly name: string
  readonly bytes: Uint8Array
  readonly sha256: string | undefined
}

/** The body of a `multipart/form-data` request. */
interface Form {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Whether the server reads exactly this name from a form. */
function isNameForForms(name: string): boolean {
  return name.isWellFormed() && !/^\.{0,2}$|[\u0000-\u001f\u007f/\ufffd]/.test(name)
}

/** The files as `POST /upload/batch` takes them: each digest before its file. */
function formOf(files: readonly SmallFile[]): Form {
  const random = crypto.getRandomValues(new Uint32Array(4))
  const boundary = `holdfast-${[...random].map((part) => part.toString(36)).join('')}`
  const encoder = new TextEncoder()
  const parts = files.flatMap(({ name, bytes, sha256 }) => {
    const digest = sha256 === undefined ? '' : partOf(boundary, 'name="sha256"') + sha256 + '\r\n'
    // In `filename` a server cannot distinguish "%22" from a quote.
    const head = partOf(boundary, `name="file"; filename*=UTF-8''${extendedValueOf(name)}`)
    return [encoder.encode(digest + head), bytes, encoder.encode('\r\n')]
  })
  parts.push(encoder.encode(`--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: joined(parts) }
}

const partOf = (boundary: string, parameters: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${parameters}\r\n\r\n`

/** Encodes an extended value by RFC 8187 §3.2.1. */
function extendedValueOf(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
