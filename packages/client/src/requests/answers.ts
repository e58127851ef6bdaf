import { problems, type ProblemCode } from '../api/description.ts'
import { HoldfastError, type HoldfastErrorCode } from '../shared/holdfast-error.ts'
import type { TransportResponse } from '../shared/transport.ts'

/** What a successful response of holdfast always has. The page of a captive portal or a proxy does not have all of it. */
export interface ExpectedAnswer {
  readonly statuses: readonly number[]
  /** Its headers, in lower case. */
  readonly headers?: readonly string[]
  /** The media type. */
  readonly type?: string
  /** The whole body. */
  readonly text?: string
}

/** The successful responses of docs/openapi.yaml. JSON shows only after parsing whether it is holdfast's. */
export const expectedAnswers = {
  pong: { statuses: [200], text: 'pong' },
  stored: { statuses: [200], headers: ['etag'], text: 'OK' },
  deleted: { statuses: [200], text: 'OK' },
  batch: { statuses: [200], type: 'application/x-ndjson' },
  archive: { statuses: [200], type: 'application/x-tar' },
  json: { statuses: [200] },
  file: { statuses: [200, 206], headers: ['etag', 'last-modified', 'content-disposition'] },
  uploadBegun: { statuses: [201], headers: ['tus-resumable', 'location'] },
  uploadState: { statuses: [200], headers: ['tus-resumable', 'upload-offset'] },
  uploadContinued: { statuses: [204], headers: ['tus-resumable', 'upload-offset'] },
  uploadEnded: { statuses: [204], headers: ['tus-resumable'] },
} as const satisfies Readonly<Record<string, ExpectedAnswer>>

/** @throws HoldfastError, `unknown`, if the response is not the expected one */
export async function requireExpected(
  response: TransportResponse,
  expected: ExpectedAnswer,
): Promise<void> {
  const { statuses, headers = [], type, text } = expected
  const [given] = (response.header('content-type') ?? '').toLowerCase().split(';')
  const hasHead =
    statuses.includes(response.status) &&
    headers.every((name) => isRight(name, response.header(name))) &&
    (type === undefined || type === given?.trim())
  if (hasHead && text === undefined) return
  const body = await startOf(response.body)
  if (!hasHead || body !== text) throw foreignAnswerError(response, body)
}

function isRight(name: string, value: string | undefined): boolean {
  return name === 'last-modified' ? isTime(value) : value !== undefined
}

/** What the statuses mean when a proxy answers by itself. */
const proxyMeans: Readonly<Record<number, string>> = {
  401: 'refuses this request',
  403: 'refuses this request',
  407: 'refuses this request',
  408: 'did not receive the request in time',
  413: 'does not accept a request as large as this',
  429: 'received too many requests',
  431: 'does not accept headers as large as these',
  500: 'has failed',
  502: 'cannot reach the server',
  503: 'cannot reach the server',
  504: 'got no answer from the server',
}

/** The error for a response that is not holdfast's; `body` is the beginning of its body. */
export function foreignAnswerError(response: TransportResponse, body: string): HoldfastError {
  const { status } = response
  const meaning = proxyMeans[status]
  const sentence =
    meaning === undefined
      ? `There is no holdfast at this address: the server there answered ${status}`
      : `Something in front of the server, such as a proxy, ${meaning} (${status})`
  const seconds = Number(response.header('retry-after') ?? NaN)
  return new HoldfastError('unknown', `${sentence}${wordsOf(response, body)}`, {
    status,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    requestId: response.header('x-request-id'),
  })
}

/** The beginning of a text for people; '' for a web page. */
function wordsOf(response: TransportResponse, body: string): string {
  const text = body.slice(0, 200).trim()
  const isPage = /html|xml/i.test(response.header('content-type') ?? '') || text.startsWith('<')
  return isPage || text === '' ? '' : `: ${text}`
}

/** Longer than any error of the API. */
const longestText = 64 * 1024

/** Reads the text of a body; of a long one only the beginning, and cancels the rest. */
async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestText) break
  }
  return text
}

/** The error for a response whose status is not 2xx. @throws the error of its body */
export async function problemOf(
  response: TransportResponse,
  method: string,
): Promise<HoldfastError> {
  const { status } = response
  const body = await startOf(response.body)
  // Answers to HEAD have no body, and so no message.
  const message = method === 'HEAD' ? `The server answered ${status}` : messageOf(body, status)
  const code = message === undefined ? 'unknown' : codeOf(status, message, method)
  // The client knows all messages of holdfast's 404, so this one is from another server.
  if (message === undefined || (code === 'unknown' && status === 404 && method !== 'HEAD')) {
    return foreignAnswerError(response, message ?? body)
  }
  const seconds = Number(response.header('retry-after') ?? NaN)
  return new HoldfastError(code, message, {
    status,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    requestId: response.header('x-request-id'),
  })
}

/** The code of an error of the API. */
export function codeOf(status: number, message: string, method: string): HoldfastErrorCode {
  const [found] = Object.entries(problems).filter(
    ([code, problem]) =>
      problem.status === status &&
      new RegExp(problem.message).test(message) &&
      // Uploads and downloads have the same message for a failed condition.
      code !== (method === 'GET' ? 'already-exists' : 'precondition-failed'),
  )
  return (found?.[0] as ProblemCode | undefined) ?? 'unknown'
}

/** The message of an error in holdfast's format. Later versions may have other messages. */
function messageOf(body: string, status: number): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    const isOwn = hasMembers({
      statusCode: (value) => value === status,
      error: isText,
      message: isText,
    })
    return isOwn(parsed) ? (parsed as { message: string }).message : undefined
  } catch {
    // A proxy answers in a format of its own.
    return undefined
  }
}

/** The result for one file in the answer to a batch. */
export interface BatchLine<File> extends LineResult {
  readonly file: File
}

interface LineResult {
  readonly error: HoldfastError | undefined
  /** Of the file, if it is stored. */
  readonly etag: string | undefined
}

/**
 * Yields the lines of the answer to a batch, one for each of the `files`, as soon as they arrive.
 *
 * @throws HoldfastError for a line about another file, and, `no-answer`, if lines are missing
 */
export async function* batchLines<File extends { readonly name: string }>(
  body: AsyncIterable<Uint8Array>,
  files: readonly File[],
): AsyncGenerator<BatchLine<File>, void> {
  let answered = 0
  for await (const { filename, error, etag } of linesOf(body)) {
    const file = files[answered]
    // The server writes no name if it cannot continue.
    if (file === undefined || filename !== file.name) {
      throw (
        error ??
        new HoldfastError('unknown', 'The answer is about files that were not in the request')
      )
    }
    answered++
    yield { file, error, etag }
  }
  if (answered < files.length) {
    throw new HoldfastError('no-answer', 'The answer was cut off before its last line')
  }
}

interface NamedLine extends LineResult {
  readonly filename: string | undefined
}

/** Ignores what follows the last line feed: it is no complete line. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<NamedLine, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.map(parseLine)
  }
}

function parseLine(line: string): NamedLine {
  const { filename, statusCode, message, etag } = membersOf(line)
  if (typeof statusCode !== 'number' || typeof message !== 'string') {
    throw new HoldfastError('unknown', 'The answer has a line that is not the result of a file')
  }
  return {
    filename: typeof filename === 'string' ? filename : undefined,
    etag: statusCode === 200 && typeof etag === 'string' ? etag : undefined,
    error:
      statusCode === 200
        ? undefined
        : new HoldfastError(codeOf(statusCode, message, 'POST'), message, { status: statusCode }),
  }
}

function membersOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(line)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    // A proxy answers in a format of its own.
    return {}
  }
}

/** Checks a value of JSON. A server may send anything. */
export type Shape = (value: unknown) => boolean

export const isText: Shape = (value) => typeof value === 'string'

/** A whole number from 0. */
export const isCount: Shape = (value) => Number.isSafeInteger(value) && Number(value) >= 0

const isTime: Shape = (value) =>
  typeof value === 'string' && !Number.isNaN(new Date(value).getTime())

const isOptional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value)

export const isListOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape)

/** An object with these members, which pass their checks; it may have others. */
const hasMembers =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, shape]) =>
      shape((value as Record<string, unknown>)[name]),
    )

export const isDetails = hasMembers({
  name: isText,
  size: isCount,
  modified: isTime,
  type: isText,
  etag: isText,
  expires: isOptional(isTime),
})

const kept = { name: isText, version: isText, size: isCount, modified: isTime, type: isText }

export const isFileVersion = hasMembers({ ...kept, replaced: isTime })

export const isDeletedFile = hasMembers({ ...kept, deleted: isTime })

export const isUsage = hasMembers({
  files: isCount,
  bytes: isCount,
  quota: isOptional(isCount),
  maxFiles: isOptional(isCount),
  login: isOptional(isText),
  may: isOptional(isListOf(isText)),
  unfinished: hasMembers({ uploads: isCount, bytes: isCount }),
  kept: isOptional(hasMembers({ versions: isCount, bytes: isCount })),
})

export const isLink = hasMembers({
  url: (value) => typeof value === 'string' && URL.canParse(value, 'http://localhost'),
  expires: isTime,
})
