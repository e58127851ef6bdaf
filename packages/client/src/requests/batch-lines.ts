import { codeOf } from './problem-of.ts'
import { HoldfastError } from '../errors/holdfast-error.ts'

/** A line of the answer to a batch. */
export interface BatchLine {
  /** Of the file that it is about; without it nothing more is to be expected. */
  readonly filename: string | undefined
  readonly error: HoldfastError | undefined
  /** Of the file, where it is stored. */
  readonly etag: string | undefined
}

/** The lines of the answer to a batch, as soon as they are there; what follows the last line feed is no line. */
export async function* batchLines(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<BatchLine, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.map(parseLine)
  }
}

function parseLine(line: string): BatchLine {
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
