import { EventEmitter, on } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { chunksOf } from '../body/chunks-of.ts'
import { requireIntactBody } from '../body/intact-body.ts'
import { problems } from '../errors/problem.ts'
import { readForm, type FilePart } from './busboy/read-form.ts'
import { sha256, type FormFile } from './prepare-file.ts'
import { expectedSha256 } from './syntax/expected-sha256.ts'
import { formLimits } from './syntax/form-limits.ts'
import { checkFormType } from './syntax/form-type.ts'

/** A file of a form that is still being read. What is not read of it is skipped. */
export interface BatchFile extends FormFile {
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * The files in the parts named `file` of the request's form, in order, each as it arrives: the next one comes when
 * the one before has been dealt with. Text fields, other files and empty file fields are read past; a part that cannot be
 * read counts as a file.
 *
 * @throws HttpProblem 400 when a text field `sha256` has no file after it, 400 or 413 when the form is broken or
 *   beyond the limits, at the point where that shows
 */
export async function* receiveBatch(request: IncomingMessage): AsyncIterable<BatchFile> {
  checkFormType(request)
  requireIntactBody(request)
  const parser = createParser(request)
  const { parts, takeDigests } = queueParts(request, parser)
  let files = 0
  let digests: readonly string[] = []
  try {
    for await (const [part] of parts) {
      const filename = part.disposition?.filename
      digests = [...digests, ...part.digests]
      if (filename !== '' || !(await isEmpty(part.stream))) {
        if (++files > formLimits.batchFiles) throw problems.tooManyFiles(formLimits.batchFiles)
        yield toFile(part, digests)
        digests = []
      }
      part.stream.resume()
    }
    if (digests.length + takeDigests().length > 0) {
      throw problems.invalidField('sha256', 'no file follows it')
    }
  } finally {
    request.unpipe(parser)
    parser.destroy()
  }
}

function toFile({ disposition, stream }: FilePart, digests: readonly string[]): BatchFile {
  return {
    filename: disposition?.filename,
    content: chunksOf(stream, problems.malformedMultipart),
    digest: () => {
      const expected = expectedSha256(digests)
      return expected === undefined ? undefined : sha256(() => expected)
    },
  }
}

/** How many parts may wait for their turn before the parser does, too; small ones do not slow it by themselves. */
const waitingParts = 100

/** Reads the form; the parser is not fed while too many of its parts wait. */
function queueParts(request: IncomingMessage, parser: busboy.Busboy) {
  const queue = Object.assign(new EventEmitter(), {
    pause: () => request.unpipe(parser),
    resume: () => request.pipe(parser),
  })
  const parts = on(queue, 'part', {
    close: ['close'],
    highWaterMark: waitingParts,
    lowWaterMark: 1,
  }) as AsyncIterable<[part: FilePart]>
  // It fails once more when the reader has stopped.
  queue.on('error', () => {})
  parser.once('close', () => queue.emit('close'))
  const { takeDigests } = readForm(request, parser, {
    onFile: (part) => queue.emit('part', part),
    onFail: (error) => queue.emit('error', error),
  })
  return { parts, takeDigests }
}

function createParser(request: IncomingMessage): busboy.Busboy {
  try {
    return busboy({ headers: request.headers })
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
