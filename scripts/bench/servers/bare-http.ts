/**
 * The floor of `/ping` and of a GET of 4 KiB: Node's own HTTP server, or HTTPS with CERTIFICATE and KEY, which answers from memory
 * with as many headers as holdfast. PORT comes from the environment.
 */
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'

const { PORT, CERTIFICATE, KEY } = process.env
const requestId = ['X-Request-Id', 'e9c904f8-ee11-4c8d-8cdb-9ea8e50fa3d0']

const pong = Buffer.from('pong')
const pongHeaders = [
  ...requestId,
  ...['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', `${pong.length}`],
]

const file = Buffer.alloc(4096, 'holdfast')
const fileHeaders = [
  ...requestId,
  ...['ETag', '"4n1-35s-6c4f2a"', 'Last-Modified', 'Mon, 23 Nov 2026 12:00:00 GMT'],
  ...['Content-Type', 'application/octet-stream', 'Content-Disposition', 'attachment'],
  ...['Content-Length', `${file.length}`],
]

const answer: RequestListener = (request, response) => {
  const isPing = request.url === '/ping'
  response.writeHead(200, isPing ? pongHeaders : fileHeaders)
  response.end(isPing ? pong : file)
}

// By default it closes connections that are idle for 5 s, which a client that is busy takes for a failure.
const options = { keepAliveTimeout: 60_000 }
const server =
  CERTIFICATE && KEY
    ? createSecureServer(
        { ...options, cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) },
        answer,
      )
    : createServer(options, answer)
server.listen(Number(PORT), '127.0.0.1')
