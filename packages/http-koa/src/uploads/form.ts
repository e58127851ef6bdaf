import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import koaMulter from '@koa/multer'
import type { ExpectedDigest } from '@holdfast/core'
import type { Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import contentDisposition from 'content-disposition'
import type { Context } from 'koa'
import { problems } from '../http/problems.ts'
import { isClosed } from '../server/connection.ts'
import {
  exchangeIn,
  fileNameInPath,
  crashPoint,
  type HoldfastState,
  inviteBody,
} from '../server/exchange.ts'
import {
  chunksOf,
  requireIntactBody,
  takeBodyAtHand,
  type UploadBytes,
  watchBodyLength,
} from '../server/request-body.ts'
import { createByDraft } from './file-body.ts'
import {
  checkFormType,
  expectedSha256,
  formLimits,
  isForm,
  partFileName,
  type FormDisposition,
} from './form-syntax.ts'
import { createEngine } from './multer-storage.ts'
import { refuseNameless, type FormPart, patchBusboy, type PartHeaders } from './patch-busboy.ts'
import {
  answerUpload,
  prepareUpload,
  uploadRequestOf,
  type PendingUpload,
  type StagedUpload,
  type UploadRequest,
} from './upload.ts'

/** POST /upload: stores the file of a form. By `draft`, the body may also be the file itself, and come in pieces. */
export function createUpload(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const exchange = exchangeIn(ctx)
    const upload = uploadRequestOf(exchange)
    if (draft?.isCreation(ctx.req) && !isForm(ctx.req)) {
      const name = fileNameInDisposition(ctx.get('content-disposition'))
      upload.note(name)
      return createByDraft(draft, ctx, upload, { name, uploads: 'uploads' })
    }
    return answerUpload(ctx, () =>
      storeForm(ctx, async (file) => prepareFormFile(upload, file).stage()),
    )
  }
}

/**
 * The file name in a request's Content-Disposition (RFC 6266): what follows the last slash, as in a form.
 *
 * @throws HttpProblem 400 when there is no name
 */
function fileNameInDisposition(header: string): string {
  const name = fileNameIn(header)
  if (name === undefined) throw problems.noFile()
  return partFileName(name)
}

function fileNameIn(header: string): string | undefined {
  try {
    return contentDisposition.parse(header).parameters.filename
  } catch {
    // `parse` throws for a header that it cannot read, and for an empty one.
    return undefined
  }
}

/**
 * POST /upload/:filename with a link: stores the file of a form as browsers send it, so that a link can be the `action` of a
 * form. The file's name is that in the path; if the link has a prefix, it is the prefix in the path and the name in the form.
 */
export const formByLink: RouterMiddleware<HoldfastState> = async (ctx) => {
  const { link } = ctx.state
  if (link?.uploads === undefined) throw new TypeError('The route is not behind a link')
  const { isPrefix } = link.uploads
  const inPath = fileNameInPath(ctx)
  const upload = uploadRequestOf(exchangeIn(ctx))
  await answerUpload(ctx, () =>
    storeForm(ctx, async (file) => {
      const name = isPrefix ? `${inPath}${partFileName(file.filename)}` : inPath
      return prepareFormFile(upload, file, name).stage()
    }),
  )
}

async function storeForm(ctx: Context, stage: Stage) {
  const staged = await receiveForm(ctx, stage)
  crashPoint('form-complete')
  return staged.publish()
}

/** A file of a form, for all ways in which a form is read. */
export interface FormFile<Bytes extends UploadBytes = UploadBytes> {
  /** The file's name as the client sends it; `undefined` if it cannot be read. */
  readonly filename: string | undefined
  /** All bytes, or the bytes as they arrive; reading these throws if the form breaks off. */
  readonly content: Bytes
  /**
   * The digest in the file's text fields `sha256`. Called before the content is read.
   *
   * @throws HttpProblem 400 when the fields are already known to be wrong
   */
  readonly digest?: () => ExpectedDigest | undefined
}

/**
 * The upload of a file of a form. Default of `name`: the name in the form.
 *
 * @throws HttpProblem 400 for a name that cannot be read, and all that `digest` throws
 */
export function prepareFormFile(
  upload: UploadRequest,
  { filename, content, digest }: FormFile,
  name = nameInForm(upload, filename),
): PendingUpload {
  upload.note(name)
  const expected = digest?.()
  return prepareUpload(upload, { name, bytes: content, ...(expected && { digest: expected }) })
}

/** The name in the form; notes it even if it is then refused. */
function nameInForm({ note }: UploadRequest, filename: string | undefined): string {
  if (filename !== undefined) note(filename)
  return partFileName(filename)
}

/** A SHA-256 digest; `expected` is called after the last byte. */
export function sha256(expected: () => string | undefined): ExpectedDigest {
  return { hash: createHash('sha256'), expected }
}

/** Stages the one file of a form. */
type Stage = (file: FormFile) => Promise<StagedUpload>

/**
 * Reads the whole form of a request, and stages its only file by `stage`. The caller publishes the staged file.
 *
 * @throws HttpProblem 400 or 413 when there is not exactly one file, or the form is broken or exceeds the limits
 */
async function receiveForm(ctx: Context, stage: Stage): Promise<StagedUpload> {
  checkFormType(ctx.req)
  requireIntactBody(ctx.req)
  const simple = takeSimpleForm(ctx.req)
  return simple ? stage(simple) : receiveByMulter(ctx, stage)
}

/**
 * Reads the form by multer. For a broken form, multer rejects only after it has read the rest of the request, which may take
 * hours. This function rejects at the first failure; multer continues to discard the rest after the response.
 */
async function receiveByMulter(ctx: Context, stage: Stage): Promise<StagedUpload> {
  const failure = Promise.withResolvers<never>()
  let hasFailed = false
  let stageFirst: (() => Promise<StagedUpload>) | undefined
  let staged: StagedUpload | undefined
  const onFail = (error: Error) => {
    hasFailed = true
    failure.reject(error)
    // Multer would keep the file until it has read the rest of the request.
    void staged?.discard()
  }
  const onFile: FormReader['onFile'] = (part, digests, form) => {
    const { disposition } = part
    if (disposition === undefined) form.fail(problems.malformedMultipart())
    else if (disposition.filename === '') refuseNameless(part, form.fail)
    else if (stageFirst) form.fail(problems.moreThanOneFile())
    else stageFirst = () => stage(toFile(part, digests, form)).catch(failing(form.fail))
  }
  const receive = koaMulter({
    storage: createEngine(async () => {
      if (stageFirst === undefined) throw problems.noFile()
      return (staged = await stageFirst())
    }),
    fileFilter: (_request, { fieldname }, callback) => {
      callback(null, fieldname === 'file' && !hasFailed)
    },
    streamHandler: (request, parser) => {
      readForm(request, parser, { onFile, onFail, maxParts: formLimits.parts })
    },
  }).any()
  // If multer itself rejects, the form is broken; all other failures have come by `onFail` before.
  const reading = receive(ctx, async () => {}).catch(() => {
    throw problems.malformedMultipart()
  })
  await Promise.race([failure.promise, reading])
  if (staged === undefined) throw problems.noFile()
  return staged
}

/** Makes a handler that calls `fail` with the error at once, and throws it for multer. */
function failing(fail: FormReading['fail']) {
  return (error: Error): never => {
    fail(error)
    throw error
  }
}

/** The file of a part. A field `sha256` may still follow it, but hardly any form has one. */
function toFile(
  { disposition, stream }: FormPart,
  digests: readonly string[],
  form: FormReading,
): FormFile {
  return {
    filename: disposition?.filename,
    content: chunksOf(stream, problems.malformedMultipart),
    digest: () => ({
      ...sha256(() => expectedSha256([...digests, ...form.takeDigests()])),
      isUnlikely: digests.length === 0,
    }),
  }
}

/** The file of a form that has no other part. */
interface SimpleForm {
  /** Letters, digits, `_`, `.` and `-` only, so that all ways to read it agree. */
  readonly filename: string
  readonly content: Buffer
}

/**
 * Takes the form of `request` if all of it has arrived and there is only one way to read it: a single part, named `file`, with a
 * plain file name. Most small files are sent so, and for them a parser of streams takes longer than the disk. Any other form is
 * put back unread; the result is `undefined` then.
 */
export function takeSimpleForm(request: IncomingMessage): SimpleForm | undefined {
  const boundary = simpleType.exec(request.headers['content-type'] ?? '')?.[1]
  const body = boundary === undefined ? undefined : takeBodyAtHand(request)
  if (boundary === undefined || body === undefined) return undefined
  const form = readSimpleForm(body, boundary)
  if (form) request.resume()
  else request.unshift(body)
  return form
}

/** The content type as browsers, curl and libraries write it, with a boundary of at most 70 characters (RFC 2046 §5.1.1). */
const simpleType = /^multipart\/form-data; boundary=([\w-]{1,70})$/

const simpleHead =
  /^[Cc]ontent-[Dd]isposition: form-data; name="file"; filename="([\w.-]+)"(?:\r\n[Cc]ontent-[Tt]ype: [\w.+-]+\/[\w.+-]+)?$/

/** The longest head of a part that is read here, in bytes; it has room for a long name and a long type. */
const headLimit = 512

/** `body` as a simple form; `undefined` if it is incomplete, or not such a form. */
export function readSimpleForm(body: Buffer, boundary: string): SimpleForm | undefined {
  const delimiter = `\r\n--${boundary}`
  const opening = `--${boundary}\r\n`
  if (body.toString('latin1', 0, opening.length) !== opening) return undefined
  const start = body.subarray(0, opening.length + headLimit).indexOf('\r\n\r\n')
  const head = body.toString('latin1', opening.length, Math.max(opening.length, start))
  const filename = simpleHead.exec(head)?.[1]
  if (filename === undefined) return undefined
  // The search begins at the blank line, so that a delimiter right after it is found, and the form is not taken as simple.
  const end = body.indexOf(delimiter, start + 2, 'latin1')
  const content = body.subarray(start + 4, Math.max(start + 4, end))
  const rest = body.toString('latin1', end + delimiter.length)
  const isWhole = end >= start + 4 && (rest === '--\r\n' || rest === '--')
  return isWhole ? { filename, content } : undefined
}

interface FormReader {
  /**
   * Called in order for each part named `file`, and for each part whose headers cannot be read. `digests` are the text fields
   * `sha256` since the file before, for `expectedSha256`. The parser waits until the part's stream has been read.
   */
  readonly onFile: (part: FormPart, digests: readonly string[], form: FormReading) => void
  /** Called at once with the first error of the form, and only with that. The streams of its parts end with an error then. */
  readonly onFail: (error: Error) => void
  /** How many parts the form may have. Default: any number. */
  readonly maxParts?: number
}

/** A form that is being read. */
interface FormReading {
  /** Stops reading the form. `onFail` is called with `error`, unless it was called before. */
  readonly fail: (error: Error) => void
  /** Returns the text fields `sha256` since the last file, or since the last call. */
  readonly takeDigests: () => readonly string[]
}

/**
 * Reads the form in `request`'s body by `parser`, a busboy that has not read anything. Text fields and files in other fields are
 * counted and dropped. This function alone sets the limits, counts the parts and makes the errors, whatever options the parser
 * has.
 */
export function readForm(
  request: IncomingMessage,
  parser: Writable,
  { onFile, onFail, maxParts = Infinity }: FormReader,
): FormReading {
  let hasFailed = false
  let parts = 0
  const fail = (error: Error) => {
    if (hasFailed) return
    hasFailed = true
    onFail(error)
    parser.destroy(error)
  }
  const { read, takeDigests } = createTextFields(fail)
  const form = { fail, takeDigests }
  patchBusboy(parser, {
    headersFor,
    fail,
    onPart({ disposition, stream }) {
      // The stream of a part fails together with the parser, possibly before it has a reader.
      stream.on('error', () => {})
      if (++parts > maxParts) fail(problems.tooManyParts(maxParts))
      if (hasFailed) return
      if (disposition !== undefined && disposition.filename === undefined) {
        read(disposition.name, stream)
      } else if (disposition === undefined || disposition.name === 'file') {
        onFile({ disposition, stream }, takeDigests(), form)
      } else stream.resume()
    },
  })
  // Busboy's own messages are not for clients. It may fail twice, and an error without a listener would end the process.
  parser.on('error', () => fail(problems.malformedMultipart()))
  request.once('close', () => {
    if (!request.readableEnded) fail(problems.malformedMultipart())
  })
  watchBodyLength(request, fail)
  inviteBody(request)
  request.pipe(parser)
  // If the client left while its login waited, maybe after sending a whole and correct form, no event follows.
  if (isClosed(request) && !request.readableEnded) fail(problems.truncatedBody())
  return form
}

/**
 * Headers that make busboy emit a `file` for every part, so that it skips none silently. For text fields, empty names and parts
 * that cannot be read there is no `filename`; for others it only shows that there is a name.
 */
function headersFor(disposition: FormDisposition | undefined): PartHeaders {
  const name = disposition?.name === 'file' ? 'file' : 'other'
  const filename = disposition?.filename ? '; filename="named"' : ''
  return {
    'content-disposition': [`form-data; name="${name}"${filename}`],
    // This type makes the part a file for busboy even without a name.
    'content-type': ['application/octet-stream'],
  }
}

/** The text fields of a form. They are counted and not kept, except for digests. */
interface TextFields {
  /** Reads the field `name`, whose value is `stream`. */
  readonly read: (name: string, stream: Readable) => void
  /**
   * Returns the fields `sha256` since the last call, for `expectedSha256`. Wrong values are cut, and at most two are kept: enough
   * to see that they are wrong.
   */
  readonly takeDigests: () => readonly string[]
}

/** The length of a digest in characters; every longer value is wrong. */
const digestLength = 64

/** @param fail called with the error when a limit is exceeded */
function createTextFields(fail: (error: Error) => void): TextFields {
  let count = 0
  let digests: string[] = []
  return {
    read(name, stream) {
      if (++count > formLimits.fields) fail(problems.tooManyFields(formLimits.fields))
      let size = 0
      let digest = ''
      const isDigest = name === 'sha256' || name.startsWith('sha256[')
      consume(stream, (chunk) => {
        size += chunk?.length ?? 0
        if (size > formLimits.fieldSize) fail(problems.fieldTooLarge(formLimits.fieldSize))
        if (!isDigest) return
        if (chunk) digest += chunk.toString('latin1', 0, digestLength + 1 - digest.length)
        // A name in multer's syntax for lists and objects counts as a wrong digest. Two digests are wrong already.
        else if (digests.length < 2) digests.push(name === 'sha256' ? digest : '')
      })
    },
    takeDigests() {
      const taken = digests
      digests = []
      return taken
    },
  }
}

/**
 * Calls `take` with each chunk of `stream` as it is pushed, and with `null` at the end. A reader of the stream would get them too
 * late: the parser would go on to the next part before.
 */
function consume(stream: Readable, take: (chunk: Buffer | null) => void): void {
  const push = stream.push.bind(stream)
  stream.push = (chunk: Buffer | null) => {
    take(chunk)
    return chunk === null ? push(null) : true
  }
  stream.resume()
}
