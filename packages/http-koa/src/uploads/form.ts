import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import koaMulter from '@koa/multer'
import type { ExpectedDigest } from '@holdfast/core'
import type { Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import contentDisposition from 'content-disposition'
import type { Context } from 'koa'
import { problems } from '../http/problems.ts'
import { exchangeIn, fileNameInPath, step, type HoldfastState } from '../server/exchange.ts'
import {
  chunksOf,
  requireIntactBody,
  takeBodyAtHand,
  type UploadBytes,
} from '../server/request-body.ts'
import { checkFormType, expectedSha256, formLimits, isForm, partFileName } from './form-syntax.ts'
import { createEngine } from './multer-storage.ts'
import { refuseNameless, type FormPart } from './patch-busboy.ts'
import { readForm, type FormReader, type FormReading } from './read-form.ts'
import { createByDraft } from './resumable.ts'
import {
  answerUpload,
  prepareUpload,
  uploadRequestOf,
  type PendingUpload,
  type StagedUpload,
  type UploadRequest,
} from './upload.ts'

/** POST /upload: stores the file of a form; by `draft` also a body that is the file itself, and may come in pieces. */
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
 * The name that a client gives its body (RFC 6266): the last segment, as of the file of a form.
 *
 * @throws HttpProblem 400 when there is none
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
    // It throws for what cannot be read, the empty string too.
    return undefined
  }
}

/**
 * POST /upload/:filename with a link: stores the file of a form, as a browser sends it, so that the link may be the action of
 * a form. The name is that in the path; with a link to a prefix, the form's own name of the file comes after it.
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
  step('form-complete')
  return staged.publish()
}

/** A file of a form, however the form is read. */
export interface FormFile<Bytes extends UploadBytes = UploadBytes> {
  /** What the client calls it; `undefined` where the part does not say so in a way that can be read. */
  readonly filename: string | undefined
  /** Its bytes, whole or as they arrive; those throw when the form breaks off. */
  readonly content: Bytes
  /**
   * What its text fields `sha256` ask for; called before the content is read.
   *
   * @throws HttpProblem 400 where they are known by then, and wrong
   */
  readonly digest?: () => ExpectedDigest | undefined
}

/**
 * The upload of a file of a form. Default of `name`: that which the form gives it.
 *
 * @throws HttpProblem 400 for a name that cannot be read, and what `digest` throws
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

/** Notes also what is refused. */
function nameInForm({ note }: UploadRequest, filename: string | undefined): string {
  if (filename !== undefined) note(filename)
  return partFileName(filename)
}

/** A SHA-256 digest, which is asked for after the last byte. */
export function sha256(expected: () => string | undefined): ExpectedDigest {
  return { hash: createHash('sha256'), expected }
}

/** Stages the one file of a form. */
type Stage = (file: FormFile) => Promise<StagedUpload>

/**
 * Reads the form of a request whole, and has `stage` stage its one file; resolves with that, which is still to be
 * published.
 *
 * @throws HttpProblem 400 or 413 when there is not exactly one file, or the form is broken or beyond the limits
 */
async function receiveForm(ctx: Context, stage: Stage): Promise<StagedUpload> {
  checkFormType(ctx.req)
  requireIntactBody(ctx.req)
  const simple = takeSimpleForm(ctx.req)
  return simple ? stage(simple) : receiveByMulter(ctx, stage)
}

/**
 * Multer answers a broken form only when it has read the rest of the request, which may be hours away. Here the first
 * failure counts at once, and multer goes on discarding after the response.
 */
async function receiveByMulter(ctx: Context, stage: Stage): Promise<StagedUpload> {
  const failure = Promise.withResolvers<never>()
  let hasFailed = false
  let stageFirst: (() => Promise<StagedUpload>) | undefined
  let staged: StagedUpload | undefined
  const onFail = (error: Error) => {
    hasFailed = true
    failure.reject(error)
    // Multer would keep it until it has read the rest of the request.
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
  // What multer itself rejects with is the form's fault; all other failures have come early.
  const reading = receive(ctx, async () => {}).catch(() => {
    throw problems.malformedMultipart()
  })
  await Promise.race([failure.promise, reading])
  if (staged === undefined) throw problems.noFile()
  return staged
}

/** Calls `fail` with the error at once; multer learns of it later. */
function failing(fail: FormReading['fail']) {
  return (error: Error): never => {
    fail(error)
    throw error
  }
}

/** A field `sha256` may still follow, but hardly any form has one. */
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

/** The file of a form that holds nothing else. */
interface SimpleForm {
  /** Letters, digits and the like, so that all ways to read it are the same. */
  readonly filename: string
  readonly content: Buffer
}

/**
 * Takes the form of `request` where all of it has arrived, and where it is so simple that there is one way to read it: a
 * file called `file` with a plain name, and nothing around it. Small files are sent like that as a rule, and a parser of
 * streams takes longer for them than the disk does. Any other form is left as it is, to be read in full.
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

/** As browsers, curl and libraries write it; no boundary of this kind is longer than RFC 2046 allows, either. */
const simpleType = /^multipart\/form-data; boundary=([\w-]{1,70})$/

const simpleHead =
  /^[Cc]ontent-[Dd]isposition: form-data; name="file"; filename="([\w.-]+)"(?:\r\n[Cc]ontent-[Tt]ype: [\w.+-]+\/[\w.+-]+)?$/

/** The longest head of a part that is looked at, in bytes: a long name, and a long type. */
const headLimit = 512

/** The simple form that `body` is; `undefined` where it is not whole, or anything else. */
export function readSimpleForm(body: Buffer, boundary: string): SimpleForm | undefined {
  const delimiter = `\r\n--${boundary}`
  const opening = `--${boundary}\r\n`
  if (body.toString('latin1', 0, opening.length) !== opening) return undefined
  const start = body.subarray(0, opening.length + headLimit).indexOf('\r\n\r\n')
  const head = body.toString('latin1', opening.length, Math.max(opening.length, start))
  const filename = simpleHead.exec(head)?.[1]
  if (filename === undefined) return undefined
  // From the line break before the blank line on: one that ends the head is none of the content.
  const end = body.indexOf(delimiter, start + 2, 'latin1')
  const content = body.subarray(start + 4, Math.max(start + 4, end))
  const rest = body.toString('latin1', end + delimiter.length)
  const isWhole = end >= start + 4 && (rest === '--\r\n' || rest === '--')
  return isWhole ? { filename, content } : undefined
}
