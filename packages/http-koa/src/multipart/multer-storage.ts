import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { requireFunction, requireOptions } from '@holdfast/core'
import type { CustomerFiles, UploadOptions } from '@holdfast/core'
import { chunksOf } from '../body/chunks-of.ts'
import { requireUndecodedBody } from '../body/intact-body.ts'
import { prepareUpload, type StagedUpload } from '../body/stage-upload.ts'
import { problems } from '../errors/problem.ts'
import { onConnectionEnd } from '../exchange/endings.ts'

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
    const uploadOptions = optionsOf(request, part)
    const files = await filesOf(request, part)
    const { stream } = part
    // Multer's own limit ends the stream as if it were complete; only this event says so.
    stream.once('limit', () => stream.destroy(new Error('The file exceeds the limit')))
    const content = chunksOf(stream, problems.malformedMultipart)
    return prepareUpload(files, name, content, uploadOptions).stage()
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
