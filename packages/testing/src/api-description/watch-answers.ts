import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createAnswerReader } from './answer-reader.ts'
import { readDescription } from './description.ts'
import { createJudge, type AskedRequest, type Judge } from './judge.ts'

/** The answers of a server that is watched. */
export interface WatchedAnswers {
  /** How many there were, those that broke off not among them. */
  count(): number
  /** @throws Error when there was one that is not as described, with all that were not */
  expectDescribed(): void
}

/**
 * From now on holds every answer of `server`, which speaks HTTP or HTTPS, against docs/openapi.yaml: its status, its
 * headers and, up to a MiB, its body, as they are written on the connection.
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
        // A browser asks by itself, and only the Fetch Standard says what it gets.
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

  // Over TLS the first is what lies below, where those who do not speak TLS are answered.
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

/** One for all servers of a process: its schemas take their time. */
function judgeByDescription(): Judge {
  return (known ??= createJudge(readDescription()))
}

/** Has `read` see what is written to `socket`. */
function tap(socket: Socket, read: (chunk: Buffer) => void): void {
  const write = socket.write.bind(socket) as (...args: readonly unknown[]) => boolean
  socket.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'
    read(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk))
    return write(chunk, ...rest)
  }
}
