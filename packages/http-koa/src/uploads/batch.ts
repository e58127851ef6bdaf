import { EventEmitter, on } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { RouterMiddleware } from '@koa/router'
import { createKeyedLock, type CustomerFiles } from '@holdfast/core'
import busboy from 'busboy'
import { noRecorder, type AuditRecorder } from '../guards/audit.ts'
import { consoleLog, type HttpLog } from '../guards/errors.ts'
import { etagOf } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import {
  answerFileLines,
  orderedConcurrentMap,
  type FileOutcome,
  type FileReports,
  type StartedWork,
} from '../lists/file-lines.ts'
import { exchangeIn, type HoldfastState } from '../server/exchange.ts'
import { chunksOf, requireIntactBody } from '../server/request-body.ts'
import { checkFormType, expectedSha256, formLimits } from './form-syntax.ts'
import { prepareFormFile, sha256, type FormFile, readForm } from './form.ts'
import type { FormPart } from './patch-busboy.ts'
import { uploadRequestOf, type UploadRequest } from './upload.ts'

/**
 * POST /upload/batch: stores each file of a form separately, and answers one line of JSON per file, in order, as soon as that
 * file is stored durably or refused. A text field `sha256` comes before its file. If the form breaks off, the last line says
 * so; the files before it stay.
 */
export function createBatch(
  log: HttpLog = consoleLog,
  recorder: AuditRecorder = noRecorder,
): RouterMiddleware<HoldfastState> {
  const reporting = { event: 'upload', log, recorder, refuseNone: problems.noFile } as const
  return (ctx) =>
    answerFileLines(ctx, reporting, (reports) => {
      const store = storing(uploadRequestOf(exchangeIn(ctx)), reports)
      return orderedConcurrentMap(receiveBatch(ctx.req), filesAtOnce, store)
    })
}

/** How many files of a batch are stored at a time, so that they share syncs. Only one of them is received at a time. */
const filesAtOnce = 8

/** Makes a function that begins to store a file. Files of one name are stored one after the other, so that the last one stays. */
function storing(
  request: UploadRequest,
  { explain, record }: FileReports,
): (file: BatchFile) => StartedWork<FileOutcome> {
  const lock = createKeyedLock()
  const upload: CustomerFiles['upload'] = async (name, ...rest) => {
    const unlock = await lock(name)
    return request.who.upload(name, ...rest).finally(unlock)
  }
  const storeAndRecord = async (file: BatchFile): Promise<FileOutcome> => {
    try {
      const { line, subject, ending } = await storeOne(
        file,
        { ...request, who: { upload } },
        explain,
      )
      await record('upload', subject, ending)
      return { line }
    } catch (error) {
      return { failure: { error } }
    }
  }
  return (file) => {
    const read = Promise.withResolvers<undefined>()
    const content = noting(file.content, () => read.resolve(undefined))
    const result = storeAndRecord({ ...file, content })
    return { taken: Promise.race([read.promise, result]), result }
  }
}

/** `content`; calls `note` when all of it was read, or its reader has stopped. */
async function* noting(content: AsyncIterable<Uint8Array>, note: () => void) {
  try {
    yield* content
  } finally {
    note()
  }
}

async function storeOne(
  batchFile: BatchFile,
  request: UploadRequest,
  explain: FileReports['explain'],
) {
  const { filename } = batchFile
  let file = filename
  try {
    const upload = prepareFormFile({ ...request, note: (name) => (file = name) }, batchFile)
    const stored = await upload.publish()
    return {
      line: { filename, statusCode: 200, message: 'OK', etag: etagOf(stored) },
      subject: { file, bytes: stored.size },
    }
  } catch (error) {
    return { line: { filename, ...explain(error) }, subject: { file }, ending: { error } }
  }
}

/** A file of a form that is still being read. Content that is not read is skipped. */
type BatchFile = FormFile<AsyncIterable<Uint8Array>>

/**
 * The files in the parts named `file` of the request's form, in order, each as it arrives. The next one comes when the caller
 * asks for it. Text fields, files in other fields and empty file fields are skipped; a part whose headers cannot be read counts
 * as a file.
 *
 * @throws HttpProblem 400 when a text field `sha256` has no file after it; 400 or 413 when the form is broken or exceeds the
 *   limits, as soon as that part of the form is reached
 */
export async function* receiveBatch(request: IncomingMessage): AsyncIterable<BatchFile> {
  checkFormType(request)
  requireIntactBody(request)
  const parser = createParser(request)
  const { parts, takeDigests } = queueParts(request, parser)
  let files = 0
  let digests: readonly string[] = []
  try {
    for await (const [part, itsDigests] of parts) {
      const filename = part.disposition?.filename
      digests = [...digests, ...itsDigests]
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

function toFile({ disposition, stream }: FormPart, digests: readonly string[]): BatchFile {
  return {
    filename: disposition?.filename,
    content: chunksOf(stream, problems.malformedMultipart),
    digest: () => {
      const expected = expectedSha256(digests)
      return expected === undefined ? undefined : sha256(() => expected)
    },
  }
}

/** While so many parts wait, the parser gets no more data: parts that are small do not slow it otherwise. */
const waitingParts = 100

/** Reads the form into a queue of parts. While too many parts wait, the parser gets no data. */
function queueParts(request: IncomingMessage, parser: busboy.Busboy) {
  const queue = Object.assign(new EventEmitter(), {
    pause: () => request.unpipe(parser),
    resume: () => request.pipe(parser),
  })
  const parts = on(queue, 'part', {
    close: ['close'],
    highWaterMark: waitingParts,
    lowWaterMark: 1,
  }) as AsyncIterable<[part: FormPart, digests: readonly string[]]>
  // The parser fails once more after the reader has stopped; without a listener that would end the process.
  queue.on('error', () => {})
  parser.once('close', () => queue.emit('close'))
  const { takeDigests } = readForm(request, parser, {
    onFile: (part, itsDigests) => queue.emit('part', part, itsDigests),
    onFail: (error) => queue.emit('error', error),
  })
  return { parts, takeDigests }
}

function createParser(request: IncomingMessage): busboy.Busboy {
  try {
    return busboy({ headers: request.headers })
  } catch {
    // Busboy throws here only for a content type that it cannot read.
    throw problems.malformedMultipart()
  }
}

/** Whether the part has no content. So forms send a file field in which no file was chosen. */
async function isEmpty(stream: Readable): Promise<boolean> {
  for await (const chunk of chunksOf(stream, problems.malformedMultipart)) {
    if (chunk.length > 0) return false
  }
  return true
}
