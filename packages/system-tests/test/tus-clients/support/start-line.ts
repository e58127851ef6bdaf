import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that went through the line. */
export interface SeenRequest {
  readonly method: string
  /** `Upload-Offset` of the request. */
  readonly offset: number | undefined
}

/** The line between clients and a server. */
export interface Line {
  readonly url: string
  /** The requests below `/resumable`, in their order. */
  readonly requests: readonly SeenRequest[]
  /** Forgets the requests so far. */
  forget(): void
  /**
   * Breaks once, after so many more bytes of bodies: cuts the connection, or passes nothing on until the client leaves.
   * Resolves when it does.
   */
  breakAfter(bytes: number, kind: 'cut' | 'stall'): Promise<void>
  stop(): Promise<void>
}

/** Takes requests on to the server at `target`, except for those whose path is one of `pages`. */
export async function startLine(
  target: string,
  pages: ReadonlyMap<string, Page> = new Map(),
): Promise<Line> {
  const requests: SeenRequest[] = []
  let fault = { bytesLeft: Infinity, isCut: true, happens: () => {} }

  function pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = incoming
    if (url.startsWith('/resumable')) requests.push({ method, offset: offsetOf(headers) })
    const outgoing = request(target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.rawHeaders)
      answer.pipe(response)
    })
    const cut = () => {
      outgoing.destroy()
      incoming.socket.destroy()
    }
    outgoing.on('error', cut)
    incoming.on('error', cut)
    // The client has left, or the answer is complete; then this does nothing.
    response.once('close', () => outgoing.destroy())
    incoming.on('data', (chunk: Buffer) => {
      fault.bytesLeft -= chunk.length
      if (fault.bytesLeft > 0) return
      fault.bytesLeft = Infinity
      if (fault.isCut) cut()
      else incoming.unpipe().pause()
      fault.happens()
    })
    incoming.pipe(outgoing)
  }

  const server = createServer((incoming, response) => {
    const page = pages.get(incoming.url ?? '')
    if (page === undefined) return pass(incoming, response)
    response.setHeader('Content-Type', page.type).end(page.content)
  })
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    forget: () => void requests.splice(0),
    breakAfter: (bytesLeft, kind) =>
      new Promise((happens) => {
        fault = { bytesLeft, isCut: kind === 'cut', happens }
      }),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export interface Page {
  readonly type: string
  readonly content: string | Buffer
}

function offsetOf({ 'upload-offset': offset }: IncomingMessage['headers']): number | undefined {
  return typeof offset === 'string' ? Number(offset) : undefined
}
