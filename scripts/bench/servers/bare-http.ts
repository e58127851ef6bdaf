/**
 * What Node's own HTTP server does with connections and nothing else: answers each request with 4 KiB from memory, and as
 * many headers as holdfast. PORT comes from the environment.
 */
import { createServer } from 'node:http'

const body = Buffer.alloc(4096, 'holdfast')
const headers = [
  ...['X-Request-Id', 'e9c904f8-ee11-4c8d-8cdb-9ea8e50fa3d0'],
  ...['ETag', '"4n1-35s-6c4f2a"', 'Last-Modified', 'Mon, 23 Nov 2026 12:00:00 GMT'],
  ...['Content-Type', 'application/octet-stream', 'Content-Disposition', 'attachment'],
  ...['Content-Length', `${body.length}`],
]

// By default it closes connections that are idle for 5 s, which a client that is busy takes for a failure.
createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
}).listen(Number(process.env['PORT']), '127.0.0.1')
