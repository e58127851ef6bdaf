import type { IncomingMessage } from 'node:http'
import { headerOfPart, type Draft } from '@holdfast/resumable'
import type { RouterMiddleware } from '@koa/router'
import contentDisposition from 'content-disposition'
import { answerStored } from '../downloads/file-headers.ts'
import { filesOf } from '../guards/authenticate.ts'
import { isCreateOnly } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { step, fileNameInPath, exchangeIn, type HoldfastState } from '../server/exchange.ts'
import { bodyOf, parseContentDigest, releaseChunks } from '../server/request-body.ts'
import { isForm } from './form-syntax.ts'
import { partFileName, prepareFile, prepareNamedFile } from './prepare-file.ts'
import { receiveForm } from './receive-form.ts'
import { createByDraft } from './resumable.ts'
import { prepareUpload } from './upload.ts'

/** POST /upload: stores the file of a form; by `draft` also a body that is the file itself, and may come in pieces. */
export function createUpload(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const { storing } = exchangeIn(ctx)
    if (storing) return answerStored(ctx, await storing)
    const createOnly = isCreateOnly(ctx.req.headers)
    if (draft?.isCreation(ctx.req) && !isForm(ctx.req)) {
      const name = fileNameInDisposition(ctx.get('content-disposition'))
      ctx.state.fileName = name
      return createByDraft(draft, ctx, { name, createOnly, uploads: 'uploads' })
    }
    const options = { createOnly, ...releaseChunks(ctx.req) }
    const onName = (name: string) => void (ctx.state.fileName = name)
    const staged = await receiveForm(ctx, async (file) =>
      prepareFile(filesOf(ctx.state), file, options, onName).stage(),
    )
    step('form-complete')
    answerStored(ctx, await staged.publish())
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
  const uploads = ctx.state.link?.uploads
  if (uploads === undefined) throw new TypeError('The route is not behind a link')
  const inPath = fileNameInPath(ctx)
  const options = { createOnly: isCreateOnly(ctx.req.headers), ...releaseChunks(ctx.req) }
  const staged = await receiveForm(ctx, async (file) => {
    const name = uploads.isPrefix ? `${inPath}${partFileName(file.filename)}` : inPath
    ctx.state.fileName = name
    return prepareNamedFile(uploads, name, file, options).stage()
  })
  step('form-complete')
  answerStored(ctx, await staged.publish())
}

/**
 * PUT /upload/:filename: stores the body as it is, without a form around it. By `draft` it may come in pieces, if the client asks
 * for that.
 */
export function createPut(draft: Draft | undefined): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const { storing } = exchangeIn(ctx)
    if (storing) return answerStored(ctx, await storing)
    const name = fileNameInPath(ctx)
    const { headers } = ctx.req
    // RFC 9110 §14.5: a part that passes for the whole would destroy the file.
    if (headers['content-range'] !== undefined) {
      throw problems.invalidHeader('content-range', 'an upload is always the whole file')
    }
    const createOnly = isCreateOnly(headers)
    // A link is for whole files.
    if (ctx.state.link === undefined && draft?.isCreation(ctx.req)) {
      return createByDraft(draft, ctx, { name, createOnly, uploads: '../uploads' })
    }
    const partHeader = headerOfPart(ctx.req)
    if (partHeader !== undefined) {
      throw problems.invalidHeader(partHeader, 'an upload is always the whole file')
    }
    const digest = parseContentDigest(ctx.get('content-digest') || undefined)
    const upload = prepareUpload(
      ctx.state.link?.uploads ?? filesOf(ctx.state),
      name,
      bodyOf(ctx.req),
      {
        createOnly,
        ...(digest && { digest }),
        ...sizeOf(ctx.req),
        ...releaseChunks(ctx.req),
      },
    )
    answerStored(ctx, await upload.publish())
  }
}

function sizeOf(request: IncomingMessage): { readonly size?: number } {
  const length = request.headers['content-length']
  return length === undefined ? {} : { size: Number(length) }
}
