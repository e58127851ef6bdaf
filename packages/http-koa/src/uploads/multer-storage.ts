import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import {
  requireFunction,
  requireOptions,
  type CustomerFiles,
  type UploadOptions,
} from '@holdfast/core'
import { problems } from '../http/problems.ts'
import { onConnectionEnd } from '../server/connection.ts'
import { chunksOf, requireUndecodedBody } from '../server/request-body.ts'
import { formLimits, partFileName, type FormDisposition } from './form-syntax.ts'
import { patchBusboy, refuseNameless } from './patch-busboy.ts'
import { prepareUpload, type StagedUpload } from './upload.ts'

declare global {
  // Where multer's own types have what a route gets. Without them it is a type that is not used.
  // oxlint-disable-next-line typescript/no-namespace -- it is theirs
  namespace Express.Multer {
    // oxlint-disable-next-line typescript/no-empty-object-type -- it adds to another one
    interface File extends StagedUpload {}
  }
}

/** A file part of a form, as multer hands it to an engine. */
export interface UploadedPart {
  readonly fieldname: string
  /** What the client calls the file. */
  readonly originalname: string
  readonly mimetype: string
  readonly stream: Readable
}

/** What multer takes for `storage`. */
export interface MulterStorage<Request extends IncomingMessage = IncomingMessage> {
  _handleFile(
    request: Request,
    part: UploadedPart,
    callback: (error: unknown, info?: StagedUpload) => void,
  ): void
  _removeFile(
    request: Request,
    file: UploadedPart & StagedUpload,
    callback: (error: Error | null) => void,
  ): void
}

export interface MulterStorageOptions<Request extends IncomingMessage = IncomingMessage> {
  /** Whose file it is going to be. */
  readonly filesOf: (request: Request, part: UploadedPart) => CustomerFiles | Promise<CustomerFiles>
  /** The name to store the file under. Default: `originalname`, what multer says the client calls it. */
  readonly nameOf?: (request: Request, part: UploadedPart) => string
  /** Further options of the upload. Default: none. */
  readonly optionsOf?: (request: Request, part: UploadedPart) => UploadOptions
}

/**
 * A storage engine for multer, on Koa or Express, which keeps files in holdfast. Each file in `req.file` or
 * `req.files` is a {@link StagedUpload}: in the store, but invisible. Nothing else is safe, since multer calls an
 * engine done when a file's part ends, before it is known whether the form is complete. So the handler
 * behind multer calls `publish()`, and answers only when that has resolved; what it does not want it drops with
 * `discard()`. When multer refuses the form it discards by itself, and so does the end of the connection.
 */
export function createMulterStorage<Request extends IncomingMessage = IncomingMessage>(
  options: MulterStorageOptions<Request>,
): MulterStorage<Request> {
  requireOptions('createMulterStorage({ filesOf })', options, {
    filesOf: requireFunction,
    'nameOf?': requireFunction,
    'optionsOf?': requireFunction,
  })
  const {
    filesOf,
    nameOf = (_request, part) => part.originalname,
    optionsOf = () => ({}),
  } = options
  return createEngine(async (request, part) => {
    // Multer does not notice: what is no UTF-8 in the file would have been replaced.
    requireUndecodedBody(request)
    const name = nameOf(request, part)
    const options = optionsOf(request, part)
    const who = await filesOf(request, part)
    const { stream } = part
    // Multer's own limit ends the stream as if it were complete; only this event says so.
    stream.once('limit', () => stream.destroy(new Error('The file exceeds the limit')))
    const bytes = chunksOf(stream, problems.malformedMultipart)
    return prepareUpload({ who, options, note() {} }, { name, bytes }).stage()
  })
}

/**
 * A storage engine whose files are what `stage` resolves with. They are discarded when their connection ends, or has
 * ended already, unless they are published before.
 */
export function createEngine<Request extends IncomingMessage = IncomingMessage>(
  stage: (request: Request, part: UploadedPart) => Promise<StagedUpload>,
): MulterStorage<Request> {
  return {
    _handleFile(request, part, callback) {
      stage(request, part).then(
        (staged) => {
          discardWithConnection(request.socket, staged)
          callback(null, staged)
        },
        (error: unknown) => callback(error),
      )
    },
    _removeFile(_request, staged, callback) {
      void staged.discard().then(() => callback(null))
    },
  }
}

function discardWithConnection(socket: Socket, staged: StagedUpload): void {
  const forget = onConnectionEnd(socket, () => void staged.discard())
  void staged.ended.then(forget)
}

/**
 * What an application gives to multer 2.4 or later beside its `storage`, so that multer reads forms as the routes do, and no
 * form can stop the process. By itself multer passes over files whose `Content-Disposition` it cannot read, and makes
 * arrays of any length of text fields such as `a[4294967294]`. With these options it passes on an `HttpProblem` of status
 * 400 for the former, and has limits for the latter; set your own in place of them.
 */
export const multerOptions = {
  defParamCharset: 'utf8',
  preservePath: true,
  limits: {
    fields: formLimits.fields,
    fieldSize: formLimits.fieldSize,
    /** Levels of brackets in the name of a text field. */
    fieldNestingDepth: 10,
    /** The highest number in brackets there. */
    fieldArrayIndexLimit: 100,
    parts: formLimits.parts,
  },
  streamHandler: feedMulter,
} as const

function feedMulter(request: IncomingMessage, parser: Writable): void {
  const fail = (error: Error) => void parser.destroy(error)
  patchBusboy(parser, {
    headersFor: (disposition, arrived) => ({ ...arrived, ...headersFor(disposition) }),
    onPart: (part) => refuseNameless(part, fail),
    fail,
  })
  request.pipe(parser)
}

/**
 * The headers by which busboy and multer come to the same reading.
 *
 * @throws HttpProblem 400 where there is none
 */
function headersFor(disposition: FormDisposition | undefined) {
  if (disposition === undefined) throw problems.malformedMultipart()
  const { name, filename } = disposition
  // Multer undoes these, as it does those of browsers.
  const escaped = name.replaceAll('\\', '\\\\').replaceAll(/["\r\n]/g, encodeURIComponent)
  const field = `form-data; name="${Buffer.from(escaped).toString('latin1')}"`
  if (filename === undefined) return { 'content-disposition': [field] }
  // The type makes it a file for busboy, and multer passes over it.
  if (filename === '') {
    return { 'content-disposition': [field], 'content-type': ['application/octet-stream'] }
  }
  const last = partFileName(filename)
  if (last === '') throw problems.invalidFilename('it is empty')
  const encoded = Buffer.from(last).toString('hex').replaceAll(/../g, '%$&')
  return { 'content-disposition': [`${field}; filename*=utf-8''${encoded}`] }
}
