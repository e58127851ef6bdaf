/**
 * The floor of uploads and deletions over HTTP, `disk+http`: Node's own HTTP server, which receives a body whole, makes it a durable
 * file and answers `OK`; a form counts as its bytes. PORT and DIRECTORY come from the environment, UV_THREADPOOL_SIZE should be 32.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { createDurableFiles } from './durable-files.ts'

const { PORT, DIRECTORY = '' } = process.env
const temporary = join(DIRECTORY, '../temporary')
mkdirSync(temporary)
const store = createDurableFiles(temporary, DIRECTORY)
let forms = 0

createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const name = basename(request.url ?? '')
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const changed =
      request.method === 'DELETE'
        ? store.remove(name)
        : store.write(request.method === 'PUT' ? name : `form-${forms++}`, Buffer.concat(chunks))
    void changed.then(() => {
      response.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '2'])
      response.end('OK')
    })
  })
}).listen(Number(PORT), '127.0.0.1')
