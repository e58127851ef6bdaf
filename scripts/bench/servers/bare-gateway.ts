/**
 * The floor of a server before MinIO: Node's own HTTP server and client, which sign each request and pass the same bytes on. PORT,
 * ENDPOINT, BUCKET, ACCESS_KEY and SECRET_KEY come from the environment.
 */
import { Agent, createServer, request as send } from 'node:http'
import { basename } from 'node:path'
import { createSigner } from '../../../packages/store-minio/src/http/get-client.ts'

const { PORT, ENDPOINT = '', BUCKET, ACCESS_KEY = '', SECRET_KEY = '' } = process.env
const { hostname, port, host } = new URL(ENDPOINT)
const sign = createSigner({ region: 'us-east-1', accessKey: ACCESS_KEY, secretKey: SECRET_KEY })
const agent = new Agent({ keepAlive: true })

createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method = 'GET', url = '', headers } = request
  const path = `/${BUCKET}/${basename(url)}`
  const signed = sign(method, path, { host })
    .trimEnd()
    .split('\r\n')
    .flatMap((line) => line.split(/:(.*)/).slice(0, 2))
  const length = headers['content-length']
  if (length !== undefined) signed.push('content-length', length)
  const passed = send({ agent, hostname, port, method, path, headers: signed }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, {
      'content-length': answer.headers['content-length'] ?? '0',
    })
    answer.pipe(response)
  })
  request.pipe(passed)
}).listen(Number(PORT), '127.0.0.1')
