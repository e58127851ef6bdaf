import type { IncomingMessage } from 'node:http'
import type { CustomerFiles, FileLinks, Link } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import type { OriginOf } from '../guards/address-of.ts'
import { filesOf } from '../guards/enter.ts'
import { refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { decodeUtf8, parseJson } from '../http/text.ts'
import { fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { readWholeBody } from '../server/request-body.ts'
import type { LinkRequest } from './link-schema.ts'
import { validate } from './link-validator.ts'

/** POST /link/:filename: makes a URL by which everyone who has it can download the file, or upload one, for a limited time. */
export function createMakeLink(
  { maxAgeMs }: FileLinks,
  originOf: OriginOf,
): RouterMiddleware<HoldfastState> {
  const maxSeconds = Math.max(1, Math.floor(maxAgeMs / 1000))
  return async (ctx) => {
    const name = fileNameInPath(ctx)
    const files = filesOf(ctx.state)
    const asked = await readLinkRequest(ctx.req, maxSeconds)
    const isUpload = asked.verb === 'upload'
    if (isUpload) ctx.state.event = 'upload-link'
    const { token, expiresAt } = await sign(files, name, asked, maxAgeMs)
    // The part of the path before the route's own belongs to an application around the routes, if there is one.
    const [before = ''] = /^.*(?=\/link\/[^/]*$)/su.exec(pathIn(ctx.originalUrl)) ?? []
    const path = `${before}/${isUpload ? 'upload' : 'serve'}/${encodeURIComponent(name)}`
    const query = `link=${encodeURIComponent(token)}`
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = JSON.stringify({
      url: `${originOf(ctx.req)}${path}?${query}`,
      expires: expiresAt.toISOString(),
    })
  }
}

async function sign(
  files: CustomerFiles,
  name: string,
  { verb, expiresIn, inline, prefix, ...bounds }: LinkRequest,
  maxAgeMs: number,
): Promise<Link> {
  if (!files.link || !files.uploadLink) throw new TypeError('The service has no links')
  const age = expiresIn !== undefined && { expiresInMs: Math.min(expiresIn * 1000, maxAgeMs) }
  if (verb !== 'upload')
    return files.link(name, { ...(inline !== undefined && { inline }), ...age })
  const isPrefix = prefix !== undefined && { isPrefix: prefix }
  return files.uploadLink(name, { ...bounds, ...isPrefix, ...age })
}

function pathIn(target: string): string {
  const [path = ''] = target.replace(/^[a-z]+:\/\/[^/?]*/iu, '').split('?')
  return path
}

/** In bytes; a usual body has some forty. */
const longestBody = 4096

/**
 * The {@link LinkRequest} in the body of `request`; an empty body means an empty one.
 *
 * @throws HttpProblem 400 for a body that is not the JSON of a {@link LinkRequest} of at most `maxSeconds`
 */
async function readLinkRequest(request: IncomingMessage, maxSeconds: number): Promise<LinkRequest> {
  const text = decodeUtf8(await readBody(request))
  if (text === '') return {}
  const data = parseJson(text)
  if (!isLinkRequest(data)) throw problemOf(maxSeconds)
  if (data.expiresIn !== undefined && data.expiresIn > maxSeconds) throw wrongTime(maxSeconds)
  checkVerb(data)
  return data
}

const ofUploads = ['prefix', 'maxFiles', 'maxSize', 'replace'] as const

function checkVerb(data: LinkRequest): void {
  if (data.verb === 'upload') {
    refuseAny(data, ['inline'], 'it is for links to download')
    if (data.prefix !== true) refuseAny(data, ['maxFiles'], 'it is for links with a prefix')
  } else {
    refuseAny(data, ofUploads, 'it is for links to upload, with "verb":"upload"')
  }
}

function refuseAny(data: LinkRequest, fields: readonly (keyof LinkRequest)[], reason: string) {
  const field = fields.find((name) => data[name] !== undefined)
  if (field !== undefined) throw problems.invalidField(field, reason)
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const body = await readWholeBody(request, longestBody)
  if (body === undefined) {
    throw problems.invalidField('body', `it is longer than ${longestBody} bytes`)
  }
  return body
}

function isLinkRequest(data: unknown): data is LinkRequest {
  return validate(data)
}

function problemOf(maxSeconds: number) {
  const [wrong] = validate.errors ?? []
  const field = wrong?.instancePath.slice(1) ?? ''
  if (field === 'expiresIn') return wrongTime(maxSeconds)
  const reason = reasons.get(field)
  if (reason !== undefined) return problems.invalidField(field, reason)
  return problems.invalidField('body', 'it must be JSON such as {"expiresIn":3600,"inline":true}')
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['verb', 'it must be "download" or "upload"'],
  ['inline', 'it must be true or false'],
  ['prefix', 'it must be true or false'],
  ['maxFiles', 'it must be a whole number from 1 to 10000'],
  ['maxSize', 'it must be a whole number of bytes from 1'],
  ['replace', 'it must be true or false'],
])

function wrongTime(maxSeconds: number) {
  return problems.invalidField(
    'expiresIn',
    `it must be a whole number of seconds from 1 to ${maxSeconds}`,
  )
}

/** DELETE /links: ends all links that the customer has made. */
export const revokeLinks: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers)
  const files = filesOf(ctx.state)
  if (files.revokeLinks === undefined) throw problems.notFound()
  await files.revokeLinks()
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'OK'
}
