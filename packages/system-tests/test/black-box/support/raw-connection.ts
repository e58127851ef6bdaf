import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Answer } from './answer.ts'
import { parseAnswer } from './parse-answer.ts'

/** A connection, TCP or TLS, on which a test decides about every byte. */
export interface RawConnection {
  /** Resolves when the bytes have been handed to the system. */
  send(...data: readonly (string | Uint8Array)[]): Promise<void>
  /** The next answer, the 100 among them. Rejects when the connection closes before it is whole. */
  answer(options?: { readonly toHead?: boolean }): Promise<Answer>
  /** Resolves when more has arrived, or the connection has closed. */
  arrival(): Promise<void>
  /** Stops and resumes taking what the server sends. */
  pause(): void
  resume(): void
  /** Says that no more is coming, and goes on reading. */
  halfClose(): void
  /** Sends a RST. */
  reset(): void
  /** Closes in both directions. */
  close(): void
  /** Resolves when the connection has gone, with the error that it died of. */
  readonly closed: Promise<Error | undefined>
  /** Bytes that have arrived and belong to no answer that was taken. */
  unread(): Buffer
  [Symbol.dispose](): void
}

export interface ConnectOptions {
  /** The address to come from. */
  readonly localAddress?: string
  /** Whether to speak TLS. */
  readonly isTls?: boolean
}

export async function openRawConnection(
  port: number,
  { isTls = false, ...options }: ConnectOptions = {},
): Promise<RawConnection> {
  const wire = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...options })
  await once(wire, 'connect')
  const socket: Socket = isTls ? connectTls({ socket: wire, host: '127.0.0.1' }) : wire
  if (isTls) await once(socket, 'secureConnect')
  let unread = Buffer.alloc(0)
  let isEnded = false
  let failure: Error | undefined
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk])
    wake()
  })
  const arrival = () => new Promise<void>((resolve) => (wake = resolve))
  const closed = new Promise<Error | undefined>((resolve) => {
    socket.on('error', (error) => (failure = error))
    socket.on('end', () => {
      isEnded = true
      wake()
      socket.end()
    })
    socket.on('close', () => {
      isEnded = true
      wake()
      resolve(failure)
    })
  })

  return {
    async send(...data) {
      const bytes = Buffer.concat(data.map((each) => Buffer.from(each)))
      const sent = Promise.withResolvers<undefined>()
      socket.write(bytes, (error) => (error ? sent.reject(error) : sent.resolve(undefined)))
      await sent.promise
    },
    async answer({ toHead = false } = {}) {
      while (true) {
        const parsed = parseAnswer(unread, { toHead, isClosed: isEnded })
        if (parsed) {
          unread = Buffer.from(parsed.rest)
          return parsed.answer
        }
        if (isEnded) throw new Error(`Closed after ${JSON.stringify(unread.toString())}`)
        await arrival()
      }
    },
    arrival,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    halfClose: () => void socket.end(),
    reset: () => void wire.resetAndDestroy(),
    close: () => void socket.destroy(),
    closed,
    unread: () => unread,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
