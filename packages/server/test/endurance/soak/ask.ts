import { once } from 'node:events'
import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'

/** What a client sends. */
export interface Question {
  readonly method: string
  /** With the query, encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: Buffer
  /** Cut the connection when so many bytes of the body are sent. Default: stay for the answer. */
  readonly cutAfter?: number
}

/** What a client got. */
export interface Answer {
  /** 0 when none has begun. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As far as it has come. */
  readonly body: Buffer
  /** Whether it has come to its end. */
  readonly isWhole: boolean
}

const nothing: Answer = { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false }

/** Asks once; a connection that breaks is an answer that is not whole. */
export async function ask(
  url: string,
  agent: Agent,
  { body = Buffer.alloc(0), cutAfter, ...question }: Question,
): Promise<Answer> {
  const outgoing = request(url + question.path, {
    agent,
    method: question.method,
    headers: { ...(body.length > 0 && { 'content-length': body.length }), ...question.headers },
  })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  // A connection that breaks behind an answer.
  outgoing.on('error', () => {})
  if (cutAfter === undefined) outgoing.end(body)
  else outgoing.write(body.subarray(0, cutAfter), () => setImmediate(() => outgoing.destroy()))
  try {
    const [incoming] = await answered
    return await read(incoming)
  } catch {
    return nothing
  }
}

async function read(incoming: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = []
  const seen = { status: incoming.statusCode ?? 0, headers: incoming.headers }
  try {
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part)
    return { ...seen, body: Buffer.concat(parts), isWhole: incoming.complete }
  } catch {
    return { ...seen, body: Buffer.concat(parts), isWhole: false }
  }
}

/** The message of an error, or what else the body says. */
export function messageOf({ body }: Answer): string {
  const text = body.toString('utf8', 0, 1000)
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}
