import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { readFile, readlink } from 'node:fs/promises'
import { errorBody } from '../http/problems.ts'
import { connectionOf, isEnded, type ClientConnection, answerRaw } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { freeChunk } from './request-body.ts'

/** How many requests of a connection may wait for those before them. While so many wait, the connection is not read. */
const maxWaiting = 16

/** Reading resumes when only so many still wait: to parse several requests at a time takes less time. */
const fewWaiting = 8

/** How many requests beyond {@link maxWaiting} may wait in all connections together, before none is read by the parser itself. */
const maxExcess = 1_024

/** Bun and Deno read requests from the system without the `data` listeners that Node.js uses. */
const readsByItself = 'Bun' in globalThis || 'Deno' in globalThis

/** How many requests wait beyond {@link maxWaiting} of their connections: each takes kilobytes. */
let excess = 0

/** Ends that Node's parser reads a connection by itself; a function for each such connection. */
const selfReading = new Set<() => void>()

/**
 * Stops reading a connection while `maxWaiting` of its requests wait for the answers to earlier ones. `event` is what `server` emits for
 * each connection, after its own listener has run.
 *
 * At first Node's parser reads from the system by itself, which is fastest, and emits all requests in what it has read: up to 64 KiB,
 * which may be thousands. So from the first request on that waits, the parser gets one head, or one body, at a time. If more than
 * `maxExcess` requests are ahead in that way, all connections are read like this: in all, one more reading may come ahead.
 */
export function limitPipelining(server: Server, event: 'connection' | 'secureConnection'): void {
  if (readsByItself) return
  server.on(event, (socket: Socket) => {
    const connection = connectionOf(socket)
    const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[]
    if (parse === undefined) throw new Error('This version of Node.js reads sockets in another way')
    const feed = () => {
      selfReading.delete(feed)
      socket.removeListener('data', parse)
      // With a listener the parser no longer reads from the system by itself.
      socket.on('data', createFeed(socket, parse))
      connection.onRequest = createCount(connection)
    }
    selfReading.add(feed)
    connection.endings.add(() => selfReading.delete(feed))
    connection.onRequest = () => {
      if (!needsFeed(connection)) return
      feed()
      connection.onRequest?.()
    }
    if (excess > maxExcess) feed()
  })
}

/** Whether the parser must get the next bytes one head, or one body, at a time. */
function needsFeed({ waiting, isEnded }: ClientConnection): boolean {
  return waiting > 0 || isEnded
}

/** Makes a function that counts how many requests of the connection wait beyond {@link maxWaiting}. */
function createCount(connection: ClientConnection): () => void {
  let counted = 0
  let isOver = false
  const count = (waiting: number) => {
    excess += waiting - counted
    counted = waiting
  }
  connection.endings.add(() => {
    isOver = true
    count(0)
  })
  return () => {
    if (isOver) return
    count(Math.max(0, connection.waiting - maxWaiting))
    if (excess > maxExcess) for (const feed of selfReading) feed()
  }
}

function createFeed(socket: Socket, parse: (chunk: Buffer) => void): (chunk: Buffer) => void {
  const connection = connectionOf(socket)
  const nextLength = createMeasure(connection)
  const isFull = () => connection.waiting >= maxWaiting
  let isHeld = false
  connection.onNext = () => {
    connection.onRequest?.()
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
    // Node's parser gives the application copies. If the garbage collector had to free the chunk, uploads would take twice the
    // processor time.
    if (chunk.byteLength >= largeChunk && socket.listenerCount('data') === 1) freeChunk(chunk)
  }
}

/** Smaller chunks are left to the garbage collector. In bytes. */
const largeChunk = 4096

/** Whether further bytes are dropped. The rest of a body is still parsed, so that its client gets the answer. */
function isDropped(socket: Socket, connection: ClientConnection): boolean {
  if (connection.isEnded || connection.isUnparsed) return true
  return isEnded(socket) && connection.newest?.req.complete !== false
}

/** Measures how many of the next bytes belong to one head or one body. A chunked body ends as a head does, and is cut like one. */
function createMeasure(connection: ClientConnection): (rest: Buffer) => number {
  const measureHead = createHeadMeasure()
  // The parser itself may have read a part of the latest body. The rest of that body is cut like heads, wherever it looks like one.
  let measured = connection.arrived
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

const clientWasIdle = 'The client was idle for too long'

/**
 * Cuts a connection when its client makes no progress for `idleTimeoutMs`: it sends nothing of a body that the server waits
 * for, or takes nothing of an answer. The time of a whole request is not limited, so uploads may take hours. A connection that
 * waits for the store is left alone, unless its client has ended its side: such a client may have left.
 *
 * A client that takes its answer slowly is only watched from the first timeout on, so a client that takes nothing is cut after
 * twice the time.
 */
export function applyIdleTimeout(server: Server, idleTimeoutMs: number): void {
  server.timeout = idleTimeoutMs
  server.keepAliveTimeout = idleTimeoutMs
  const shortlyMs = idleTimeoutMs / 10
  const sendQueueOf = createSendQueues(shortlyMs)
  const judge = (socket: Socket, queued?: number) => {
    const connection = connectionOf(socket)
    const { seenIdle: before } = connection
    const moved = socket.bytesRead + socket.bytesWritten
    if (before?.moved === moved && before.queued === queued) return cut(socket, connection)
    const isWatched = queued !== undefined
    // If the send queue is unknown and bytes have moved since the last check, forget that check: the connection gets a whole timeout again.
    connection.seenIdle = before === undefined || isWatched ? { moved, queued } : undefined
    // A slow store may have continued at this very moment, and more of the body may wait to be read.
    socket.setTimeout(before === undefined && !isWatched ? shortlyMs : idleTimeoutMs)
  }
  // With a listener, Node leaves the socket to us. Its timer fires once; `setTimeout` starts it again.
  server.on('timeout', (socket: Socket) => {
    const connection = connectionOf(socket)
    const { exchange } = connection
    if (exchange && waitsForServer(exchange)) {
      connection.seenIdle = undefined
      socket.setTimeout(idleTimeoutMs)
    } else if (exchange && exchange.response.writableLength > 0) {
      void sendQueueOf(socket).then((queued) => {
        if (!socket.destroyed) judge(socket, queued)
      })
    } else judge(socket)
  })
}

function cut(socket: Socket, { exchange, hasAnswered }: ClientConnection): void {
  if (exchange) refuse(exchange)
  else if (socket.bytesRead > 0 && !hasAnswered) answerRaw(socket, 408, clientWasIdle)
  else socket.destroy()
}

/** Whether the connection waits for the server, and not for the client. */
function waitsForServer({ request, response, awaitsContinue }: Exchange): boolean {
  if (!request.complete) {
    return request.readableLength > 0 || (awaitsContinue && !response.headersSent)
  }
  // A client that has ended its side may have gone; only a write would show it.
  if (request.socket.readableEnded) return false
  return !response.writableFinished && response.writableLength === 0
}

function refuse({ request, response }: Exchange): void {
  // Only the store knows whether a complete request took effect, so no status would be true.
  if (response.headersSent || request.complete) {
    request.socket.destroy()
    return
  }
  const body = JSON.stringify(errorBody(408, clientWasIdle))
  response.writeHead(408, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  })
  // Node does not report the end of the socket to a request that has its answer: a reader of its body would wait forever.
  response.end(body, () => request.destroy(new Error(clientWasIdle)))
}

/** How many bytes the peer of a connection has not acknowledged; `undefined` where the system does not show it. */
type SendQueueOf = (socket: Socket) => Promise<number | undefined>

/** Node has no other way to identify the system's connection of a socket. */
type SocketWithHandle = Socket & { readonly _handle?: { readonly fd?: number } | null }

/**
 * Reads the send queues of connections as Linux shows them. The kernel takes megabytes from a server before the client reads
 * any, and takes no more until a third of them is acknowledged: only the send queue shows that a slow client still reads.
 *
 * The more connections there are, the longer it takes to read the queues, so one reading serves all calls within `maxAgeMs`.
 */
export function createSendQueues(maxAgeMs: number): SendQueueOf {
  let reading: Promise<ReadonlyMap<string, number> | undefined> | undefined
  const read = () => {
    setTimeout(() => (reading = undefined), maxAgeMs).unref()
    return readQueues()
  }
  return async (socket) => {
    const inode = await inodeOf(socket)
    if (inode === undefined) return undefined
    const queues = await (reading ??= read())
    return queues && (queues.get(inode) ?? 0)
  }
}

async function inodeOf(socket: SocketWithHandle): Promise<string | undefined> {
  const fd = socket._handle?.fd ?? -1
  if (fd < 0) return undefined
  const target = await readlink(`/proc/self/fd/${fd}`).catch(() => '')
  return /^socket:\[(\d+)\]$/.exec(target)?.[1]
}

/** A row of `/proc/net/tcp`: number, addresses, state, both queues, timer, retransmissions, user, timeout and inode. */
const row = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]{8}):\S+ \S+ +\S+ +\d+ +\d+ (\d+) /gm

/** The queues that are not empty, by the inodes of their sockets. */
async function readQueues(): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) =>
    readFile(path, 'latin1').catch(() => ''),
  )
  const [ipv4, ipv6] = await Promise.all(tables)
  if (!ipv4 && !ipv6) return undefined
  const queues = new Map<string, number>()
  for (const [, bytes = '', inode = ''] of `${ipv4}\n${ipv6}`.matchAll(row)) {
    if (bytes !== '00000000') queues.set(inode, Number.parseInt(bytes, 16))
  }
  return queues
}
