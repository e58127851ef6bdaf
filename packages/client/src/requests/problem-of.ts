import { problems, type ProblemCode } from '../api/description.ts'
import type { TransportResponse } from '../transport/transport.ts'
import { HoldfastError, type HoldfastErrorCode } from '../shared/holdfast-error.ts'
import { notOwn, startOf } from './own-answers.ts'
import { hasMembers, isText } from './shapes.ts'

/** The error that a response with another status than 2xx is. */
export async function problemOf(
  response: TransportResponse,
  method: string,
): Promise<HoldfastError> {
  const { status } = response
  const body = await startOf(response.body).catch(() => '')
  // No answer to HEAD has words.
  const message = method === 'HEAD' ? `The server answered ${status}` : messageOf(body, status)
  const code = message === undefined ? 'unknown' : codeOf(status, message, method)
  // Holdfast has no 404 but those that the client knows.
  if (message === undefined || (code === 'unknown' && status === 404 && method !== 'HEAD')) {
    return notOwn(response, message ?? body)
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
      // Uploads and downloads have the same words for a condition that does not hold.
      code !== (method === 'GET' ? 'already-exists' : 'precondition-failed'),
  )
  return (found?.[0] as ProblemCode | undefined) ?? 'unknown'
}

/** Of an error as holdfast has it; a later one may have other messages. */
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
    // A proxy answers in words of its own.
    return undefined
  }
}

/** What the answer to a batch says of one file. */
export interface BatchLine<File> extends LineResult {
  readonly file: File
}

interface LineResult {
  readonly error: HoldfastError | undefined
  /** Of the file, where it is stored. */
  readonly etag: string | undefined
}

/**
 * The lines of the answer to a batch, one for each of the `files`, as soon as they are there.
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
    // The server writes no name where it cannot go on.
    if (file === undefined || filename !== file.name) {
      throw error ?? new HoldfastError('unknown', 'The answer is about other files')
    }
    answered++
    yield { file, error, etag }
  }
  if (answered < files.length) {
    throw new HoldfastError('no-answer', 'The answer ends before its last line')
  }
}

interface NamedLine extends LineResult {
  readonly filename: string | undefined
}

/** What follows the last line feed is no line. */
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
    throw new HoldfastError('unknown', 'The answer has a line that says nothing of a file')
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
    // A proxy answers in words of its own.
    return {}
  }
}
