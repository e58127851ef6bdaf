import { problems, type ProblemCode } from '../api/description.ts'
import type { TransportResponse } from '../transport/transport.ts'
import { HoldfastError, type HoldfastErrorCode } from '../shared/holdfast-error.ts'
import { foreignAnswerError, startOf } from './expected-answers.ts'
import { hasMembers, isText } from './shapes.ts'

/** The error for a response whose status is not 2xx. */
export async function problemOf(
  response: TransportResponse,
  method: string,
): Promise<HoldfastError> {
  const { status } = response
  const body = await startOf(response.body).catch(() => '')
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
