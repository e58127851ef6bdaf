import {
  request,
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import { credentials } from '@holdfast/testing'

/** What came of an answer before the connection ended. */
export interface Answer {
  /** 0 if nothing came. */
  readonly status: number
  /** Those of interim responses, too. */
  readonly headers: IncomingHttpHeaders
  readonly content: Buffer
  /** Whether the answer came to its end. */
  readonly isWhole: boolean
}

export interface Sending {
  readonly outgoing: ClientRequest
  /** Never rejects: servers that die are the subject here. */
  readonly answer: Promise<Answer>
}

/** Begins a request of the site's customer, on a connection of its own or of `agent`; the body is up to the caller. */
export function beginSending(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>> = {},
  agent: Agent | false = false,
): Sending {
  const outgoing = request(`${url}${path}`, {
    method,
    agent,
    headers: { ...credentials, ...headers },
  })
  const headersSoFar: IncomingHttpHeaders = {}
  const collectHeaders = (message: { headers: IncomingHttpHeaders }) =>
    Object.assign(headersSoFar, message.headers)
  const answer = new Promise<Answer>((resolve) => {
    const nothing = { status: 0, headers: headersSoFar, content: Buffer.alloc(0), isWhole: false }
    outgoing.on('error', () => resolve(nothing))
    outgoing.on('information', collectHeaders)
    outgoing.on('response', (incoming) => {
      collectHeaders(incoming)
      resolve(collect(incoming, headersSoFar))
    })
  })
  return { outgoing, answer }
}

/** Sends a request of the site's customer. */
export function send(
  url: string,
  method: string,
  path: string,
  body?: Buffer,
  headers: Readonly<Record<string, string | number>> = {},
): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': body.length }
  const { outgoing, answer } = beginSending(url, method, path, { ...length, ...headers })
  outgoing.end(body)
  return answer
}

/** Sends a form with `files`, and `fields` before them, to `path`. */
export async function sendForm(
  url: string,
  path: string,
  files: Readonly<Record<string, Buffer>>,
  fields: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [name, content] of Object.entries(files))
    form.append('file', new Blob([new Uint8Array(content)]), name)
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  return send(url, 'POST', path, Buffer.from(await encoded.arrayBuffer()), { 'content-type': type })
}

/** Asks for another name. */
export function sendRename(
  url: string,
  name: string,
  body: { readonly to: string; readonly createOnly?: boolean },
): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return send(url, 'POST', `/rename/${name}`, Buffer.from(JSON.stringify(body)), headers)
}

/** Sends two files as a batch, the second one when the answer to the first has begun. */
export async function sendBatchInTurn(
  url: string,
  files: Readonly<Record<string, Buffer>>,
): Promise<Answer> {
  const headers = { 'content-type': 'multipart/form-data; boundary=turn' }
  const { outgoing, answer } = beginSending(url, 'POST', '/upload/batch', headers)
  const isAnswered = new Promise((resolve) => outgoing.once('response', resolve))
  outgoing.write('--turn')
  for (const [name, content] of Object.entries(files)) {
    outgoing.write(`\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`)
    outgoing.write(content)
    outgoing.write('\r\n--turn')
    await Promise.race([isAnswered, answer])
  }
  outgoing.end('--\r\n')
  return answer
}

async function collect(incoming: IncomingMessage, headers: IncomingHttpHeaders): Promise<Answer> {
  const chunks: Buffer[] = []
  // A server that dies ends the answer with an error, and what has come counts.
  await incoming.forEach((chunk: Buffer) => void chunks.push(chunk)).catch(() => {})
  const { statusCode: status = 0, complete: isWhole } = incoming
  return { status, headers, content: Buffer.concat(chunks), isWhole }
}
