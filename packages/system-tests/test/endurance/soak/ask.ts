import { once } from 'node:events'
import {
  request,
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What a client sends. */
export interface Question {
  readonly method: string
  /** With the query, encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: Buffer
  /** Cut the connection when so many bytes of the body are sent. Default: stay for the answer. */
  readonly cutAfter?: number
  /** Wait so many milliseconds in the middle of the body. Default: do not. */
  readonly pauseMs?: number
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
  /** Why it has not, and what the connection was used for before. */
  readonly problem: string
}

/** What each connection was last used for. */
const uses = new WeakMap<Socket, string>()

/** Asks once, without an agent on a connection of its own; a connection that breaks is an answer that is not whole. */
export async function ask(
  url: string,
  agent: Agent | false,
  { body = Buffer.alloc(0), cutAfter, pauseMs = 0, ...question }: Question,
): Promise<Answer> {
  const outgoing = request(url + question.path, {
    agent,
    method: question.method,
    headers: { ...(body.length > 0 && { 'content-length': body.length }), ...question.headers },
  })
  let before = 'nothing'
  outgoing.once('socket', (socket) => {
    before = uses.get(socket) ?? before
    uses.set(socket, `${question.method} ${question.path}, ${body.length} bytes`)
  })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  // A connection that breaks behind an answer.
  outgoing.on('error', () => {})
  if (pauseMs > 0) await sendSlowly(outgoing, body, pauseMs)
  else if (cutAfter === undefined) outgoing.end(body)
  else outgoing.write(body.subarray(0, cutAfter), () => setImmediate(() => outgoing.destroy()))
  const answer = await answered.then(([incoming]) => read(incoming), brokenBy)
  const { socket } = outgoing
  const problem = `${answer.problem}; ${socket?.bytesRead} bytes had come on the connection, before used for ${before}`
  return { ...answer, problem }
}

async function sendSlowly(outgoing: ClientRequest, body: Buffer, pauseMs: number): Promise<void> {
  const middle = Math.floor(body.length / 2)
  outgoing.write(body.subarray(0, middle))
  await delay(pauseMs)
  outgoing.end(body.subarray(middle))
}

async function read(incoming: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = []
  const { statusCode: status = 0, headers } = incoming
  const soFar = () => ({ status, headers, body: Buffer.concat(parts) })
  try {
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part)
    return { ...soFar(), isWhole: incoming.complete, problem: 'it ended early' }
  } catch (error) {
    return { ...brokenBy(error), ...soFar() }
  }
}

function brokenBy(error: unknown): Answer {
  return { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false, problem: String(error) }
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

/** Status and message, without the numbers of a quota: those depend on what else is under way. */
export function replyOf(status: number, message: string): string {
  return `${status} ${message.replace(/^(Quota exceeded): .+$/, '$1')}`
}
