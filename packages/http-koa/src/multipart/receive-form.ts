import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import koaMulter from '@koa/multer'
import type { CustomerFiles, UploadOptions } from '@holdfast/core'
import type { Context } from 'koa'
import { invite } from '../http/expect-continue.ts'
import { freeingChunks } from '../http/freeing-chunks.ts'
import { watchBodyLength } from '../http/intact-body.ts'
import { problems } from '../http/problem.ts'
import { takeBoundariesLiterally } from './take-boundaries-literally.ts'
import { expectedSha256 } from './expected-sha256.ts'
import type { FormDisposition } from './form-disposition.ts'
import { formLimits, watchParser } from './form-limits.ts'
import { createMulterStorage, type MulterStorage } from './multer-storage.ts'
import { partFileName } from './part-file-name.ts'
import type { StagedUpload } from './stage-upload.ts'
import { readParts, type FormParts } from './read-parts.ts'

export interface ReceiveFormOptions {
  readonly files: CustomerFiles
  /** Refuse when the name is taken. */
  readonly createOnly: boolean
  /** Told what the client calls the file, and then its name, unless that is refused. */
  readonly onName: (name: string) => void
}

/** Reads the form of a request whole, whose type has been checked; resolves with its one file, which is still to be published. */
export type ReceiveForm = (ctx: Context, options: ReceiveFormOptions) => Promise<StagedUpload>

/** One form being read. */
interface Reception extends ReceiveFormOptions {
  readonly freeing: Pick<UploadOptions, 'release'>
  readonly fail: (error: unknown) => void
  filesSeen: number
  parts?: FormParts
  staged?: StagedUpload
}

/**
 * A {@link ReceiveForm} by multer. Multer answers a broken form only when it has read the rest of the request, which
 * may be hours away; here the first failure counts at once, and multer goes on discarding behind the answer.
 */
export function createReceiveForm(): ReceiveForm {
  const receptions = new WeakMap<IncomingMessage, Reception>()
  const receptionOf = (request: IncomingMessage): Reception => {
    const reception = receptions.get(request)
    if (reception === undefined) throw new TypeError('The form is not being received')
    return reception
  }

  const storage = createMulterStorage({
    filesOf: (request) => receptionOf(request).files,
    nameOf: (request, part) => {
      const { onName, parts } = receptionOf(request)
      const filename = parts?.dispositionOf(part.stream)?.filename
      if (filename !== undefined) onName(filename)
      const name = partFileName(filename)
      onName(name)
      return name
    },
    optionsOf: (request) => {
      const { createOnly, freeing, parts } = receptionOf(request)
      const expected = () => expectedSha256(parts?.takeDigests() ?? [])
      const digest = { hash: createHash('sha256'), expected }
      return { createOnly, digest, ...freeing }
    },
  })

  const multer = koaMulter({
    storage: failingEarly(storage, receptionOf),
    limits: { parts: formLimits.parts },
    fileFilter: (request, part, callback) => {
      const reception = receptionOf(request)
      if (part.fieldname !== 'file') return callback(null, false)
      if (++reception.filesSeen === 1) return callback(null, true)
      reception.fail(problems.moreThanOneFile())
      callback(problems.moreThanOneFile())
    },
    streamHandler: (request, parser) => {
      const reception = receptionOf(request)
      const fail = (error: Error) => {
        reception.fail(error)
        parser.destroy(error)
      }
      takeBoundariesLiterally(parser)
      watchParser(parser, fail)
      reception.parts = readParts(parser, fail)
      parser.on('file', (_name: string, stream: Readable) => {
        refusePart(stream, reception.parts?.dispositionOf(stream), fail)
      })
      // Multer gives a form up by unpiping it; whoever knows a better reason tells in the same turn.
      parser.once('unpipe', () => {
        if (parser.writableFinished) return
        queueMicrotask(() => reception.fail(problems.malformedMultipart()))
      })
      watchBodyLength(request, fail)
      request.pipe(parser)
    },
  }).any()

  return async (ctx, options) => {
    const failure = Promise.withResolvers<never>()
    const fail = (error: unknown) => {
      failure.reject(error)
      // Multer would keep it until it has read the rest of the request.
      void reception.staged?.discard()
    }
    const freeing = freeingChunks(ctx.req)
    const reception: Reception = { ...options, freeing, fail, filesSeen: 0 }
    receptions.set(ctx.req, reception)
    invite(ctx.req)
    const reading = multer(ctx, async () => {})
    await Promise.race([failure.promise, reading.catch(refuseForm)])
    const [file] = (ctx.files ?? []) as readonly StagedUpload[]
    if (file === undefined) throw problems.noFile()
    return file
  }
}

/** Calls `fail` for a part that cannot be read, and for a file without a name; multer passes over both. */
function refusePart(
  stream: Readable,
  disposition: FormDisposition | undefined,
  fail: (error: Error) => void,
): void {
  if (disposition === undefined) return fail(problems.malformedMultipart())
  if (disposition.name !== 'file' || disposition.filename !== '') return
  // Without content it is the field of a form where no file was chosen.
  stream.once('data', () => fail(problems.invalidFilename('it is empty')))
}

/** What multer itself rejects with is the form's fault; the store's errors have come early. */
function refuseForm(): never {
  throw problems.malformedMultipart()
}

/** `storage`, which also tells the reception of a failure before multer hears of it. */
function failingEarly(
  storage: MulterStorage,
  receptionOf: (request: IncomingMessage) => Reception,
): MulterStorage {
  return {
    ...storage,
    _handleFile(request, part, callback) {
      storage._handleFile(request, part, (error, staged) => {
        const reception = receptionOf(request)
        if (staged === undefined) reception.fail(error)
        else reception.staged = staged
        callback(error, staged)
      })
    },
  }
}
