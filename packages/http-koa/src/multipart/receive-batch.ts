import { on } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy, { type FileInfo } from 'busboy'
import { invite } from '../http/expect-continue.ts'
import { HttpProblem, problems } from '../http/problem.ts'
import { formLimits, watchParser } from './form-limits.ts'
import { checkFormType } from './form-type.ts'
import { keepBackslashes } from './keep-backslashes.ts'
import { partContent, withoutDestroying } from './stage-upload.ts'
import { undoFormEscapes } from './undo-form-escapes.ts'

/** A file of a form that is still being read. */
export interface BatchFile {
  /** What the client calls it. */
  readonly filename: string
  /** Its bytes; throws when the form breaks off. What is not read of them is skipped. */
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * The files in the parts named `file` of the request's form, in order, each as it arrives: the next one comes when the one before has
 * been dealt with. Text fields and other files are read past.
 *
 * @throws HttpProblem 400 or 413 when the form is broken or beyond the limits, at the point where that shows
 */
export async function* receiveBatch(request: IncomingMessage): AsyncIterable<BatchFile> {
  checkFormType(request)
  const parser = createParser(request)
  const failure = new AbortController()
  const late = new WeakSet<Readable>()
  parser.on('file', (_name, stream) => {
    // A file's stream errs together with the parser, maybe before anybody reads it.
    stream.on('error', () => {})
    // The parser goes on to the end of the chunk in which it was stopped.
    if (failure.signal.aborted) late.add(stream)
  })
  // A broken form makes the parser err twice, by itself and by its end below; an error that nobody hears ends the process.
  parser.on('error', () => {})
  watchParser(parser, (error) => {
    failure.abort(error)
    parser.destroy(error)
  })
  request.once('close', () => {
    if (!request.complete) parser.destroy(problems.malformedMultipart())
  })
  const parts = on(parser, 'file', { close: ['close'] }) as AsyncIterable<
    [name: string, stream: Readable, info: FileInfo]
  >
  invite(request)
  request.pipe(parser)
  try {
    for await (const [name, stream, { filename }] of parts) {
      if (late.has(stream)) failure.signal.throwIfAborted()
      if (name === 'file' && filename) {
        yield {
          filename: undoFormEscapes(filename),
          content: partContent(withoutDestroying(stream)),
        }
      }
      stream.resume()
    }
  } catch (error) {
    // The parser's own words for a broken form are no answer.
    throw error instanceof HttpProblem ? error : problems.malformedMultipart()
  } finally {
    request.unpipe(parser)
    parser.destroy()
  }
}

function createParser(request: IncomingMessage): busboy.Busboy {
  try {
    const parser = busboy({
      headers: request.headers,
      limits: { fieldSize: formLimits.fieldSize, fields: formLimits.fields },
      preservePath: true,
      defParamCharset: 'utf8',
    })
    keepBackslashes(parser)
    return parser
  } catch {
    // Its only reason to throw here is a content type that it cannot read.
    throw problems.malformedMultipart()
  }
}
