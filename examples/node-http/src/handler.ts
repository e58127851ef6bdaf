import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { CustomerFiles } from '@holdfast/core'
import { answerFailure, HttpError } from './failures.ts'
import { isAtEdge, parseRange } from './parse-range.ts'

/**
 * Serves `/files` (GET lists) and `/files/<name>` (GET, HEAD, PUT, DELETE). `filesOf` knows whose files a request is
 * about, or that it is no customer's.
 */
export function createHandler(
  filesOf: (request: IncomingMessage) => CustomerFiles | undefined,
): RequestListener {
  return (request, response) => {
    answer(filesOf(request), request, response).catch((error: unknown) =>
      answerFailure(error, request, response),
    )
  }
}

async function answer(
  files: CustomerFiles | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!files) throw new HttpError(401, 'Who are you?', { 'WWW-Authenticate': 'Bearer' })
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (pathname === '/files') return list(files, searchParams.get('after') ?? '', response)
  const name = nameIn(pathname)
  if (request.method === 'PUT') return put(files, name, request, response)
  if (request.method === 'GET' || request.method === 'HEAD')
    return serve(files, name, request, response)
  if (request.method === 'DELETE') {
    await files.delete(name)
    response.writeHead(204).end()
    return
  }
  throw new HttpError(405, 'Method not allowed', { Allow: 'GET, HEAD, PUT, DELETE' })
}

/** A page of at most a thousand names; the next one begins `after` the last. */
async function list(files: CustomerFiles, after: string, response: ServerResponse): Promise<void> {
  const names = []
  for await (const page of files.list({ after, limit: 1000 })) names.push(...page)
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(names))
}

async function put(
  files: CustomerFiles,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // An announced length is checked before a byte is read. If the client leaves, `request` throws, and nothing is
  // stored.
  const size = Number(request.headers['content-length'] ?? 0)
  const createOnly = request.headers['if-none-match'] === '*'
  const content = continued(request, response)
  const { etag } = await files.upload(name, content, { size, createOnly })
  response.writeHead(201, { ETag: `"${etag}"` }).end()
}

/**
 * The body of `request`, whose client may wait to be asked for it. An upload that is refused half-way stops reading;
 * Node would cut the connection then, without a reason.
 */
async function* continued(request: IncomingMessage, response: ServerResponse) {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
  yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
}

async function serve(
  files: CustomerFiles,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = request.method === 'GET' ? parseRange(request.headers.range) : undefined
  const file = await files.serve(name, asked && { range: asked })
  const { info, content } = file
  const isEmpty = info.size === 0
  // Clients that cut everything into parts ask for the first or the last one, and never for the whole.
  const range = isEmpty && isAtEdge(asked) ? { offset: 0, length: 0 } : file.range
  response.setHeader('Accept-Ranges', 'bytes')
  if (range === undefined) {
    await file.close()
    throw new HttpError(416, 'No such part', { 'Content-Range': `bytes */${info.size}` })
  }
  const { offset, length } = range
  if (asked && !isEmpty) {
    response.statusCode = 206
    response.setHeader('Content-Range', `bytes ${offset}-${offset + length - 1}/${info.size}`)
  }
  response.setHeader('Content-Length', length)
  response.setHeader('ETag', `"${info.etag}"`)
  // A clock that was ahead leaves times to come.
  const modified = Math.min(info.modifiedAt.getTime(), Date.now())
  response.setHeader('Last-Modified', new Date(modified).toUTCString())
  // Never a page of this origin, whatever a customer has uploaded.
  response.setHeader('Content-Type', 'application/octet-stream')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (request.method === 'HEAD') {
    await file.close()
    response.end()
    return
  }
  // Reads as the client does; when the client leaves, it stops reading, and the file is closed.
  await pipeline(content, response)
}

function nameIn(pathname: string): string {
  const [, encoded] = /^\/files\/([^/]+)$/.exec(pathname) ?? []
  if (encoded === undefined) throw new HttpError(404, 'Not found')
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new HttpError(400, 'The name is not percent-encoded UTF-8')
  }
}
