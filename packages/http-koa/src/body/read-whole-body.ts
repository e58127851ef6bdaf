import type { IncomingMessage } from 'node:http'
import { bodyOf } from './body-of.ts'

/**
 * All bytes of the body; `undefined` if there are more than `limit`. Holds no more than these and one chunk in memory, and
 * reads nothing of a body whose announced length is beyond the limit.
 *
 * @throws HttpProblem `truncated-body`
 */
export async function readWholeBody(
  request: IncomingMessage,
  limit: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined
  const body = bodyOf(request)
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
