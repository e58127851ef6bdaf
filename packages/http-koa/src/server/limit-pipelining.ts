import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf, isEnded, type Connection } from '../exchange/connection.ts'

/** How many requests of a connection may wait for those before them; beyond that it is not read. */
const maxWaiting = 16

/** How many may still wait when it is read again: more at a time take less time. */
const fewWaiting = 8

/** Bun and Deno read requests from the system without the listeners that Node.js has for it. */
const readsByItself = 'Bun' in globalThis || 'Deno' in globalThis

/**
 * Stops reading a connection while `maxWaiting` of its requests wait for their turn. Node hands over every request of
 * what it has read, thousands of a single segment, and each takes kilobytes; so its parser is given one head, or one
 * body, at a time. `event` is what `server` emits for each connection, after its own listener has run.
 */
export function limitPipelining(server: Server, event: 'connection' | 'secureConnection'): void {
  if (readsByItself) return
  server.on(event, (socket: Socket) => {
    const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[]
    if (parse === undefined) throw new Error('This version of Node.js reads sockets in another way')
    socket.removeListener('data', parse)
    // With a listener the parser no longer reads from the system by itself.
    socket.on('data', createFeed(socket, parse))
  })
}

function createFeed(socket: Socket, parse: (chunk: Buffer) => void): (chunk: Buffer) => void {
  const connection = connectionOf(socket)
  const nextLength = createMeasure(connection)
  const isFull = () => connection.waiting >= maxWaiting
  let isHeld = false
  connection.onTurn = () => {
    if (!isHeld || connection.waiting > fewWaiting) return
    isHeld = false
    socket.resume()
  }

  return (chunk) => {
    let rest = chunk
    while (rest.length > 0) {
      if (isDropped(socket, connection)) break
      // Node itself pauses a socket whose client does not take the answers, and resumes it.
      isHeld ||= isFull() && !socket.isPaused()
      if (isHeld || socket.isPaused()) {
        socket.pause()
        socket.unshift(rest)
        return
      }
      const length = nextLength(rest)
      parse(length === rest.length ? rest : rest.subarray(0, length))
      rest = rest.subarray(length)
    }
    if (socket.listenerCount('data') === 1) free(chunk)
  }
}

/** What is smaller is the collector's. In bytes. */
const largeChunk = 4096

/**
 * Frees the memory of what has been parsed: Node's parser gives the application copies of it. Left to the collector, it makes
 * uploads take twice the processor's time.
 */
function free({ buffer, byteLength }: Buffer): void {
  if (byteLength < largeChunk || buffer.byteLength !== byteLength) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Whether what comes next is not read. The rest of a body is, so that its client gets the answer. */
function isDropped(socket: Socket, connection: Connection): boolean {
  if (connection.isEnded || connection.isUnparsed) return true
  return isEnded(socket) && connection.newest?.req.complete !== false
}

/** How much of what comes next belongs to one head or one body. A body in chunks ends as a head does, and is cut so. */
function createMeasure(connection: Connection): (rest: Buffer) => number {
  const measureHead = createHeadMeasure()
  let measured = 0
  let bodyLeft = 0

  return (rest) => {
    const request = connection.newest?.req
    if (measured !== connection.arrived) {
      measured = connection.arrived
      bodyLeft = request?.complete === false ? Number(request.headers['content-length'] ?? 0) : 0
    }
    if (bodyLeft === 0) return measureHead(rest)
    const length = Math.min(bodyLeft, rest.length)
    bodyLeft -= length
    return length
  }
}

const headEnd = Buffer.from('\r\n\r\n')

/** Measures how many of the next bytes belong to one head. */
function createHeadMeasure(): (rest: Buffer) => number {
  // The last bytes of an incomplete head, in which its end may begin.
  let tail = ''

  return (rest) => {
    const seam = tail === '' ? -1 : (tail + rest.toString('latin1', 0, 3)).indexOf('\r\n\r\n')
    const end = seam < 0 ? rest.indexOf(headEnd) : seam - tail.length
    if (end >= 0 || seam >= 0) {
      tail = ''
      return end + headEnd.length
    }
    tail = (tail + rest.toString('latin1', Math.max(0, rest.length - 3))).slice(-3)
    return rest.length
  }
}
