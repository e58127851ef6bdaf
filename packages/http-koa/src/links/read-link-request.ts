import type { IncomingMessage } from 'node:http'
import { bodyOf } from '../body/body-of.ts'
import { problems } from '../errors/problem.ts'
import { decodeUtf8 } from '../http/utf8.ts'
import type { LinkRequest } from './link-schema.ts'
import { validate } from './link-validator.ts'

/** Bytes; a request has some forty. */
const longestBody = 4096

/**
 * What the body of `request` asks for; nothing in particular if it is empty.
 *
 * @throws HttpProblem 400 for anything else than a {@link LinkRequest} of at most `maxSeconds` in JSON
 */
export async function readLinkRequest(
  request: IncomingMessage,
  maxSeconds: number,
): Promise<LinkRequest> {
  const text = decodeUtf8(await readBody(request))
  if (text === '') return {}
  const data = parse(text)
  if (!isLinkRequest(data)) throw problemOf(maxSeconds)
  if (data.expiresIn !== undefined && data.expiresIn > maxSeconds) throw wrongTime(maxSeconds)
  return data
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const body = bodyOf(request)
  if (body instanceof Uint8Array) return checkLength(body)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > longestBody) break
  }
  return checkLength(Buffer.concat(chunks))
}

function checkLength(body: Uint8Array): Uint8Array {
  if (body.length <= longestBody) return body
  throw problems.invalidField('body', `it is longer than ${longestBody} bytes`)
}

/** `undefined` for what is no JSON. */
function parse(text = '?'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isLinkRequest(data: unknown): data is LinkRequest {
  return validate(data)
}

function problemOf(maxSeconds: number) {
  const [wrong] = validate.errors ?? []
  if (wrong?.instancePath === '/expiresIn') return wrongTime(maxSeconds)
  if (wrong?.instancePath === '/inline') {
    return problems.invalidField('inline', 'it must be true or false')
  }
  return problems.invalidField('body', 'it must be JSON such as {"expiresIn":3600,"inline":true}')
}

function wrongTime(maxSeconds: number) {
  return problems.invalidField(
    'expiresIn',
    `it must be a whole number of seconds from 1 to ${maxSeconds}`,
  )
}
