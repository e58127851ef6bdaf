import { on } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { chunksOf } from '../body/chunks-of.ts'
import { inviteBody } from '../exchange/invite-body.ts'
import { BodyFault, requireIntactBody, watchBodyLength } from '../body/intact-body.ts'
import { HttpProblem, problems } from '../errors/problem.ts'
import { takeBoundariesLiterally } from './busboy/take-boundaries-literally.ts'
import { formLimits, watchParser } from './syntax/form-limits.ts'
import { checkFormType } from './syntax/form-type.ts'
import { readParts } from './busboy/read-parts.ts'

/** A file of a form that is still being read. */
export interface BatchFile {
  /** What the client calls it; `undefined` where the part does not say so in a way that can be read. */
  readonly filename: string | undefined
  /** Its bytes; throws when the form breaks off. What is not read of them is skipped. */
  readonly content: AsyncIterable<Uint8Array>
  /** The text fields `sha256` between the file before and this one, as `expectedSha256` takes them. */
  readonly digests: readonly string[]
}

/**
 * The files in the parts named `file` of the request's form, in order, each as it arrives: the next one comes when
 * the one before has been dealt with. Text fields, other files and empty file fields are read past; a part that cannot be
 * read counts as a file.
 *
 * @throws HttpProblem 400 when a text field `sha256` has no file behind it, 400 or 413 when the form is broken or
 *   beyond the limits, at the point where that shows
 */
export async function* receiveBatch(request: IncomingMessage): AsyncIterable<BatchFile> {
  checkFormType(request)
  requireIntactBody(request)
  const parser = createParser(request)
  const failure = new AbortController()
  const late = new WeakSet<Readable>()
  const fail = (error: Error) => {
    failure.abort(error)
    parser.destroy(error)
  }
  const { dispositionOf, takeDigests } = readParts(parser, fail)
  const isFile = (stream: Readable) => {
    const disposition = dispositionOf(stream)
    return !disposition || (disposition.name === 'file' && disposition.filename !== undefined)
  }
  const digestsOf = new WeakMap<Readable, BatchFile['digests']>()
  parser.on('file', (_name, stream) => {
    // A file's stream errs together with the parser, maybe before anybody reads it.
    stream.on('error', () => {})
    // The parser goes on to the end of the chunk in which it was stopped.
    if (failure.signal.aborted) late.add(stream)
    // What stands before a file is known only now: the file may have to wait for its turn while the parser goes on.
    if (isFile(stream)) digestsOf.set(stream, takeDigests())
  })
  // A broken form makes the parser err twice, by itself and by its end below; an error that nobody hears ends the
  // process.
  parser.on('error', () => {})
  watchParser(parser, fail)
  request.once('close', () => {
    if (!request.complete) parser.destroy(problems.malformedMultipart())
  })
  const parts = partsOf(request, parser)
  inviteBody(request)
  watchBodyLength(request, fail)
  request.pipe(parser)
  let files = 0
  try {
    let digests: readonly string[] = []
    for await (const [, stream] of parts) {
      if (late.has(stream)) failure.signal.throwIfAborted()
      const filename = dispositionOf(stream)?.filename
      digests = [...digests, ...(digestsOf.get(stream) ?? [])]
      if (isFile(stream) && !(filename === '' && (await isEmpty(stream)))) {
        if (++files > formLimits.batchFiles) throw problems.tooManyFiles(formLimits.batchFiles)
        yield { filename, content: chunksOf(stream, problems.malformedMultipart), digests }
        digests = []
      }
      stream.resume()
    }
    if (digests.length + takeDigests().length > 0) {
      throw problems.invalidField('sha256', 'no file follows it')
    }
  } catch (error) {
    // The parser's own words for a broken form are no answer.
    if (error instanceof HttpProblem || error instanceof BodyFault) throw error
    throw problems.malformedMultipart()
  } finally {
    request.unpipe(parser)
    parser.destroy()
  }
}

/** How many parts may wait for their turn before the parser does, too; small ones do not slow it by themselves. */
const waitingParts = 100

/** The file parts that `parser` finds. It is fed by `request`, though not while too many of them wait. */
function partsOf(
  request: IncomingMessage,
  parser: busboy.Busboy,
): AsyncIterable<[name: string, stream: Readable]> {
  const fed = Object.assign(parser, {
    pause: () => request.unpipe(parser),
    resume: () => request.pipe(parser),
  })
  return on(fed, 'file', {
    close: ['close'],
    highWaterMark: waitingParts,
    lowWaterMark: 1,
  }) as AsyncIterable<[name: string, stream: Readable]>
}

function createParser(request: IncomingMessage): busboy.Busboy {
  try {
    const parser = busboy({ headers: request.headers })
    takeBoundariesLiterally(parser)
    return parser
  } catch {
    // Its only reason to throw here is a content type that it cannot read.
    throw problems.malformedMultipart()
  }
}

/** Whether there is nothing in the part. A form sends its file field like that when no file was chosen. */
async function isEmpty(stream: Readable): Promise<boolean> {
  for await (const chunk of chunksOf(stream, problems.malformedMultipart)) {
    if (chunk.length > 0) return false
  }
  return true
}
