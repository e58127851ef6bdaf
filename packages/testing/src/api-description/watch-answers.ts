import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { framingOf, parseHead } from '../connection.ts'
import {
  readDescription,
  createJudge,
  type AskedRequest,
  type Judge,
  type GivenAnswer,
} from './judge.ts'
/** The answers of a server that is watched. */
export interface WatchedAnswers {
  /** How many there were, without those that broke off. */
  count(): number
  /** @throws Error that lists all answers that are not as described, if there are any */
  expectDescribed(): void
}

/**
 * From now on compares every answer of `server`, an HTTP or HTTPS server, with docs/openapi.yaml: its status, its headers and up to a MiB
 * of its body, as they are sent on the connection.
 */
export function watchAnswers(
  server: EventEmitter,
  judge: Judge = judgeByDescription(),
): WatchedAnswers {
  const undescribed: string[] = []
  const pending = new WeakMap<Socket, AskedRequest[]>()
  let count = 0
  const pendingOn = (socket: Socket) => {
    const requests = pending.get(socket) ?? []
    pending.set(socket, requests)
    return requests
  }
  const watch = (socket: Socket) => {
    const requests = pendingOn(socket)
    tap(
      socket,
      createAnswerReader(requests, (answer) => {
        count++
        const { request, status } = answer
        // A browser sends it by itself, and only the Fetch Standard describes its answer.
        if (request?.isPreflight) return
        const problems = judge(answer)
        if (problems.length === 0) return
        const asked = request ? `${request.method} ${request.target}` : 'no request'
        undescribed.push(`${status} to ${asked}: ${problems.join('; ')}`)
      }),
    )
  }
  const note = ({ socket, method = '', url = '', headers }: IncomingMessage) => {
    const override = headers['x-http-method-override']
    const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers
    const request = {
      method,
      target: url,
      isPreflight,
      ...(typeof override === 'string' && { override }),
    }
    pendingOn(socket).push(request)
  }

  // Over TLS, the first event is for the connection below, on which clients without TLS get their answer.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, watch)
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, note)
  }
  return {
    count: () => count,
    expectDescribed() {
      if (undescribed.length === 0) return
      throw new Error(`docs/openapi.yaml does not know:\n${undescribed.join('\n')}`)
    },
  }
}

let known: Judge | undefined

/** One for all servers of a process, since compiling the schemas takes time. */
function judgeByDescription(): Judge {
  return (known ??= createJudge(readDescription()))
}

/** Passes to `read` all that is written to `socket`. */
function tap(socket: Socket, read: (chunk: Buffer) => void): void {
  const write = socket.write.bind(socket) as (...args: readonly unknown[]) => boolean
  socket.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'
    read(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk))
    return write(chunk, ...rest)
  }
}

/** Bytes; a longer body is not kept. */
const maxKept = 1024 * 1024

type AnswerHead = Omit<GivenAnswer, 'body'>

/**
 * Reads the bytes that a server sends on one connection, and calls `report` with each complete answer (RFC 9112 §6). `pending` holds the
 * requests without an answer, in order; each is removed when its answer comes. A body that ends with the connection is reported as
 * unknown.
 */
export function createAnswerReader(
  pending: AskedRequest[],
  report: (answer: GivenAnswer) => void,
): (chunk: Buffer) => void {
  let unread: Buffer = Buffer.alloc(0)
  let head: AnswerHead | undefined
  let body: Buffer[] = []
  let size = 0
  let isChunked = false
  /** How many bytes of the body, or of the current chunk, are still missing. */
  let left = 0

  const take = (length: number) => {
    const taken = unread.subarray(0, length)
    unread = unread.subarray(length)
    return taken
  }
  const finish = (isKnown = size <= maxKept) => {
    if (head) report({ ...head, body: isKnown ? Buffer.concat(body) : undefined })
    head = undefined
    body = []
    size = 0
  }
  // Each of these functions returns whether to continue.
  const takeHead = (): boolean => {
    const parsed = parseHead(unread)
    if (parsed === undefined) return false
    take(parsed.size)
    const { status, fields } = parsed
    // After an interim answer the final one follows.
    const request = status < 200 ? pending[0] : pending.shift()
    head = { request, status, headers: fields }
    const framing = framingOf(parsed, request?.method === 'HEAD')
    isChunked = framing === 'chunked'
    left = typeof framing === 'number' ? framing : 0
    if (framing === 'until-closed') finish(false)
    else if (framing === 0) finish()
    return true
  }
  const takeChunkHead = (): boolean => {
    const start = unread.subarray(0, 32).toString('latin1')
    const [line, digits] = /^(?:\r\n)?([0-9a-f]+)\r\n(?=[^]{2})/i.exec(start) ?? []
    if (line === undefined || digits === undefined) return false
    left = parseInt(digits, 16)
    take(line.length)
    if (left > 0) return true
    take(2)
    finish()
    return true
  }
  const takeContent = (): boolean => {
    const taken = take(left)
    left -= taken.length
    size += taken.length
    if (size <= maxKept) body.push(taken)
    if (left === 0 && !isChunked) finish()
    return left === 0
  }
  const takeNext = () => {
    if (head === undefined) return takeHead()
    return left === 0 ? takeChunkHead() : takeContent()
  }

  return (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    while (takeNext());
  }
}
