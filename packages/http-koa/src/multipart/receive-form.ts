import koaMulter from '@koa/multer'
import type { Context } from 'koa'
import { chunksOf } from '../body/chunks-of.ts'
import { requireIntactBody } from '../body/intact-body.ts'
import type { StagedUpload } from '../body/stage-upload.ts'
import { problems } from '../errors/problem.ts'
import { refuseNameless } from './busboy/patch-busboy.ts'
import { readForm, type FilePart, type FormReading } from './busboy/read-form.ts'
import { createEngine } from './multer-storage.ts'
import { takeSimpleForm } from './simple-form.ts'
import { sha256, type FormFile } from './prepare-file.ts'
import { expectedSha256 } from './syntax/expected-sha256.ts'
import { formLimits } from './syntax/form-limits.ts'
import { checkFormType } from './syntax/form-type.ts'

/** Stages the one file of a form. */
type Stage = (file: FormFile) => Promise<StagedUpload>

/**
 * Reads the form of a request whole, and has `stage` stage its one file; resolves with that, which is still to be
 * published.
 *
 * @throws HttpProblem 400 or 413 when there is not exactly one file, or the form is broken or beyond the limits
 */
export async function receiveForm(ctx: Context, stage: Stage): Promise<StagedUpload> {
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
  const onFile = (part: FilePart, form: FormReading) => {
    const { disposition } = part
    if (disposition === undefined) form.fail(problems.malformedMultipart())
    else if (disposition.filename === '') refuseNameless(part, form.fail)
    else if (stageFirst) form.fail(problems.moreThanOneFile())
    else stageFirst = () => stage(toFile(part, form)).catch(failing(form.fail))
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
function toFile({ disposition, stream, digests }: FilePart, form: FormReading): FormFile {
  return {
    filename: disposition?.filename,
    content: chunksOf(stream, problems.malformedMultipart),
    digest: () => ({
      ...sha256(() => expectedSha256([...digests, ...form.takeDigests()])),
      isUnlikely: digests.length === 0,
    }),
  }
}
