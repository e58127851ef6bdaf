import { createHash } from 'node:crypto'
import { Agent, request, type RequestOptions } from 'node:https'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { RunningProxy } from './start-proxy.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Of the body: bytes, SHA-256, and the first of it as text. */
  readonly size: number
  readonly digest: string
  readonly text: string
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: Iterable<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array
  /** Where the client has its connection from. */
  readonly localAddress?: string
}

/** A client of the service behind a proxy, that repeats nothing. */
export interface Client {
  /** Rejects where the connection ends before the answer has. */
  ask(path: string, question?: Question): Promise<Answer>
  /** Resolves when the answer has begun; reading it is the caller's. */
  begin(path: string, question?: Question): Promise<IncomingMessage>
  close(): void
}

export function createClient(
  { url, certificate }: RunningProxy,
  customer: Record<string, string>,
): Client {
  const agent = new Agent({ ca: certificate, keepAlive: true })
  const begin = (path: string, { body, headers, ...question }: Question = {}) => {
    const options: RequestOptions = { ...question, agent, headers: { ...customer, ...headers } }
    return new Promise<IncomingMessage>((resolve, reject) => {
      // An error after the answer has begun is the answer's.
      const outgoing = request(url + path, options)
        .on('error', reject)
        .once('response', resolve)
      send(outgoing, body)
    })
  }
  return {
    begin,
    ask: async (path, question) => read(await begin(path, question)),
    close: () => agent.destroy(),
  }
}

function send(outgoing: ClientRequest, body: Question['body']): void {
  if (body === undefined || body instanceof Uint8Array) return void outgoing.end(body)
  Readable.from(body, { objectMode: false })
    .on('error', (error) => outgoing.destroy(error))
    .pipe(outgoing)
}

async function read(incoming: IncomingMessage): Promise<Answer> {
  const hash = createHash('sha256')
  let size = 0
  let text = ''
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    hash.update(chunk)
    if (size < 10_000) text += chunk.toString('utf8', 0, 10_000)
    size += chunk.length
  }
  const { statusCode: status = 0, headers } = incoming
  return { status, headers, size, digest: hash.digest('hex'), text }
}
