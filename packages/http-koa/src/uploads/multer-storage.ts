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
  // Adds to multer's own type of the files that a route gets. Without multer's types this is an unused type.
  // oxlint-disable-next-line typescript/no-namespace -- it is theirs
  namespace Express.Multer {
    // oxlint-disable-next-line typescript/no-empty-object-type -- it adds to another one
    interface File extends StagedUpload {}
  }
}

/** A file part of a form, as multer passes it to a storage engine. */
export interface UploadedPart {
  readonly fieldname: string
  /** The file's name as the client sends it. */
  readonly originalname: string
  readonly mimetype: string
  readonly stream: Readable
}

/** A storage engine, for multer's option `storage`. */
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
  /** The files of the customer for whom the file is stored. */
  readonly filesOf: (request: Request, part: UploadedPart) => CustomerFiles | Promise<CustomerFiles>
  /** The name under which the file is stored. Default: `originalname`. */
  readonly nameOf?: (request: Request, part: UploadedPart) => string
  /** Further options of the upload. Default: none. */
  readonly optionsOf?: (request: Request, part: UploadedPart) => UploadOptions
}

/**
 * A storage engine for multer, on Koa or Express, which keeps files in holdfast. Each file in `req.file` or `req.files` is a
 * {@link StagedUpload}: it is in the store, but invisible. The engine cannot publish it, since it is done when the file's part
 * ends, and the rest of the form may still break off. So the handler after multer must call `publish()`, and answer only when
 * that has resolved; it drops files by `discard()`. Files are discarded automatically when multer refuses the form, and when the
 * connection ends.
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
    // Multer does not notice a decoded body, in which all bytes that are not UTF-8 are replaced.
    requireUndecodedBody(request)
    const name = nameOf(request, part)
    const options = optionsOf(request, part)
    const who = await filesOf(request, part)
    const { stream } = part
    // At multer's own limit the stream ends as if it were complete; only this event shows that it is not.
    stream.once('limit', () => stream.destroy(new Error('The file exceeds the limit')))
    const bytes = chunksOf(stream, problems.malformedMultipart)
    return prepareUpload({ who, options, note() {} }, { name, bytes }).stage()
  })
}

/**
 * A storage engine that stages each file by `stage`. A file that is not published is discarded when its connection ends, or at
 * once if that has ended already.
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
 * Options that an application passes to multer 2.4 or later together with `storage`, so that multer reads forms as the routes
 * do, and no form can stop the process. Without them, multer skips files whose `Content-Disposition` it cannot read, and makes
 * arrays of any length from text fields such as `a[4294967294]`. With them, it rejects the former with an `HttpProblem` of status
 * 400, and limits the latter; you may set other limits.
 */
export const multerOptions = {
  defParamCharset: 'utf8',
  preservePath: true,
  limits: {
    fields: formLimits.fields,
    fieldSize: formLimits.fieldSize,
    /** How many levels of brackets the name of a text field may have. */
    fieldNestingDepth: 10,
    /** The highest number in these brackets. */
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
 * Headers that busboy and multer both read as `disposition`.
 *
 * @throws HttpProblem 400 when there are no such headers
 */
function headersFor(disposition: FormDisposition | undefined) {
  if (disposition === undefined) throw problems.malformedMultipart()
  const { name, filename } = disposition
  // Multer undoes these escapes, as it does those of browsers.
  const escaped = name.replaceAll('\\', '\\\\').replaceAll(/["\r\n]/g, encodeURIComponent)
  const field = `form-data; name="${Buffer.from(escaped).toString('latin1')}"`
  if (filename === undefined) return { 'content-disposition': [field] }
  // Because of the type, busboy takes the part as a file, which multer then skips.
  if (filename === '') {
    return { 'content-disposition': [field], 'content-type': ['application/octet-stream'] }
  }
  const last = partFileName(filename)
  if (last === '') throw problems.invalidFilename('it is empty')
  const encoded = Buffer.from(last).toString('hex').replaceAll(/../g, '%$&')
  return { 'content-disposition': [`${field}; filename*=utf-8''${encoded}`] }
}
