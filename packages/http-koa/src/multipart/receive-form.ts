import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import koaMulter from '@koa/multer'
import type { CustomerFiles, UploadOptions } from '@holdfast/core'
import type { Context } from 'koa'
import { inviteBody } from '../exchange/invite-body.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { watchBodyLength } from '../body/intact-body.ts'
import { problems } from '../errors/problem.ts'
import { takeBoundariesLiterally } from './busboy/take-boundaries-literally.ts'
import { expectedSha256 } from './syntax/expected-sha256.ts'
import type { FormDisposition } from './syntax/form-disposition.ts'
import { formLimits, watchParser } from './syntax/form-limits.ts'
import { createMulterStorage, type MulterStorage } from './multer-storage.ts'
import { partFileName } from './syntax/part-file-name.ts'
import type { StagedUpload } from '../body/stage-upload.ts'
import { readParts, type FormParts } from './busboy/read-parts.ts'

export interface ReceiveFormOptions {
  readonly files: CustomerFiles
  /** Refuse when the name is taken. */
  readonly createOnly: boolean
  /** Called with what the client calls the file, and then with its name, unless that is refused. */
  readonly onName: (name: string) => void
}

/** One form being read. */
interface Reception {
  readonly fail: (error: unknown) => void
  filesSeen: number
  parts?: FormParts
  staged?: StagedUpload
}

/**
 * Reads the form of a request whole, whose type has been checked; resolves with its one file, which is still to be
 * published. Multer answers a broken form only when it has read the rest of the request, which may be hours away; here
 * the first failure counts at once, and multer goes on discarding after the response.
 */
export async function receiveForm(
  ctx: Context,
  options: ReceiveFormOptions,
): Promise<StagedUpload> {
  const failure = Promise.withResolvers<never>()
  const reception: Reception = {
    fail(error) {
      failure.reject(error)
      // Multer would keep it until it has read the rest of the request.
      void reception.staged?.discard()
    },
    filesSeen: 0,
  }
  const receive = createMulter(reception, { ...options, ...releaseChunks(ctx.req) })
  inviteBody(ctx.req)
  const reading = receive(ctx, async () => {})
  await Promise.race([failure.promise, reading.catch(refuseForm)])
  const [file] = (ctx.files ?? []) as readonly StagedUpload[]
  if (file === undefined) throw problems.noFile()
  return file
}

type StorageOptions = ReceiveFormOptions & Pick<UploadOptions, 'release'>

/** Multer for one form: what it is given knows of the form by closure, since multer passes on nothing but the request. */
function createMulter(reception: Reception, options: StorageOptions) {
  return koaMulter({
    storage: failingEarly(createStorage(reception, options), reception),
    limits: { parts: formLimits.parts },
    fileFilter: (_request, part, callback) => {
      if (part.fieldname !== 'file') return callback(null, false)
      if (++reception.filesSeen === 1) return callback(null, true)
      reception.fail(problems.moreThanOneFile())
      callback(problems.moreThanOneFile())
    },
    streamHandler: (request, parser) => {
      const fail = (error: Error) => {
        reception.fail(error)
        parser.destroy(error)
      }
      takeBoundariesLiterally(parser)
      watchParser(parser, fail)
      const parts = readParts(parser, fail)
      reception.parts = parts
      parser.on('file', (_name: string, stream: Readable) => {
        refusePart(stream, parts.dispositionOf(stream), fail)
      })
      // Multer gives a form up by unpiping it; whoever knows a better reason reports it in the same turn.
      parser.once('unpipe', () => {
        if (parser.writableFinished) return
        queueMicrotask(() => reception.fail(problems.malformedMultipart()))
      })
      watchBodyLength(request, fail)
      request.pipe(parser)
    },
  }).any()
}

function createStorage(
  reception: Reception,
  { files, createOnly, onName, release }: StorageOptions,
): MulterStorage {
  return createMulterStorage({
    filesOf: () => files,
    nameOf: (_request, part) => {
      const filename = reception.parts?.dispositionOf(part.stream)?.filename
      if (filename !== undefined) onName(filename)
      const name = partFileName(filename)
      onName(name)
      return name
    },
    optionsOf: () => {
      const expected = () => expectedSha256(reception.parts?.takeDigests() ?? [])
      const digest = { hash: createHash('sha256'), expected }
      return { createOnly, digest, ...(release && { release }) }
    },
  })
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

/** `storage`, which also reports a failure to the reception before multer learns of it. */
function failingEarly(storage: MulterStorage, reception: Reception): MulterStorage {
  return {
    ...storage,
    _handleFile(request, part, callback) {
      storage._handleFile(request, part, (error, staged) => {
        if (staged === undefined) reception.fail(error)
        else reception.staged = staged
        callback(error, staged)
      })
    },
  }
}
