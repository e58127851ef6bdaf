import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parseAnswers, type WireAnswer } from './answers.ts'

/** How long a server may take for an answer, in milliseconds. What takes longer hangs. */
const patienceMs = 20_000

/** Sends requests over one connection, as long as the server keeps it. */
export interface KeptConnection {
  /** Sends one request, whose length is right, and takes its answer. `isHead` tells that none has a body. */
  ask(request: Uint8Array, isHead?: boolean): Promise<WireAnswer>
  close(): void
}

export function keepConnection(port: number): KeptConnection {
  let socket: Socket | undefined
  const ask = async (request: Uint8Array, isHead = false) => {
    const used = socket === undefined || socket.destroyed ? await open(port) : socket
    // Whatever goes wrong, the next request is not to wait behind this one.
    socket = undefined
    try {
      const { answer, isLast } = await withinPatience(exchange(used, request, isHead))
      if (!isLast) socket = used
      return answer
    } finally {
      if (socket === undefined) used.destroy()
    }
  }
  return { ask, close: () => void socket?.destroy() }
}

/** Sends `bytes` on a connection of its own and nothing more, and takes all answers up to the end of the connection. */
export async function exchangeAll(port: number, bytes: Uint8Array): Promise<readonly WireAnswer[]> {
  const socket = await open(port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.end(bytes)
  try {
    await withinPatience(once(socket, 'close'))
  } finally {
    socket.destroy()
  }
  const mayBeHead = Buffer.from(bytes).includes('HEAD')
  const { answers, isCut } = parseAnswers(Buffer.concat(chunks), mayBeHead)
  // A batch is answered while it arrives; where it breaks off, so may the answer.
  const isBatch = Buffer.from(bytes).includes('/upload/batch')
  if (isCut && !isBatch) throw new Error('The connection ended in the middle of an answer')
  return answers
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  await once(socket, 'connect')
  // A server that refuses may close while there is still something to send.
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  return socket
}

async function exchange(socket: Socket, request: Uint8Array, isHead: boolean) {
  let received = Buffer.alloc(0)
  const answered = Promise.withResolvers<{ answer: WireAnswer; isLast: boolean }>()
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    try {
      const { answers, isCut } = parseAnswers(received, isHead)
      const [answer, ...more] = answers.filter(({ status }) => status >= 200)
      if (answer === undefined) return
      if (isCut || more.length > 0) throw new Error('There is something behind the answer')
      answered.resolve({ answer, isLast: answer.headers.get('connection') === 'close' })
    } catch (error) {
      answered.reject(error)
    }
  }
  const onClose = () => answered.reject(new Error('The connection ended without an answer'))
  socket.on('data', onData).on('close', onClose)
  socket.write(request)
  try {
    return await answered.promise
  } finally {
    socket.off('data', onData).off('close', onClose)
  }
}

async function withinPatience<T>(promise: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const hangs = () => reject(new Error(`No answer within ${patienceMs} ms`))
  const timer = setTimeout(hangs, patienceMs)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
