import type { IncomingMessage } from 'node:http'

/**
 * The body of `request`, which throws unless all of it comes. A reader that stops early leaves the request alive, so that an
 * answer can be sent.
 *
 * @throws Error when something has read of the body before
 */
export function nodeContent(request: IncomingMessage): AsyncIterable<Uint8Array> {
  if (request.readableDidRead || request.readableEncoding) {
    throw new Error(
      "Something has read the request's body before holdfast: mount the handler before body parsers, such as " +
        'express.json and koa-bodyparser, or keep them off its path',
    )
  }
  return announced(request)
}

async function* announced(request: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Uint8Array
    size += bytes.length
    yield bytes
  }
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) !== size) {
    throw new Error(
      `The request's body had ${size} bytes instead of ${length}: something else reads it`,
    )
  }
}
