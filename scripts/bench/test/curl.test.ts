import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { curlLoop, parallelCurl } from '../clients/curl.ts'
import { observeCommand } from '../measure/observe-command.ts'
import { holdfastDialect } from '../subjects/holdfast.ts'

const names = ['round-1-000000', 'round-1-000001', 'round-1-000002']

for (const makeClient of [curlLoop, parallelCurl]) {
  describe(`the client ${makeClient.name}`, () => {
    it('stores files and fetches them, with the credentials', async () => {
      const home = await mkdtemp(join(tmpdir(), 'holdfast-bench-test-'))
      const server = await startServer()
      try {
        const client = makeClient('curl', { ...server, ...holdfastDialect })
        const files = { names, prefix: 'round-1-' }
        const [from, to] = [join(home, 'from'), join(home, 'to')]
        for (const directory of [from, to]) await mkdir(directory)
        for (const name of names) await writeFile(join(from, name), `content of ${name}`)
        const log = join(home, 'log')
        await observeCommand(client.put(files), { directory: from, log })
        await observeCommand(client.get(files), { directory: to, log })
        expect(await readdir(to)).to.have.members(names)
        for (const name of names) {
          expect(await readFile(join(to, name), 'utf8')).to.equal(`content of ${name}`)
        }
      } finally {
        await server.stop()
        await rm(home, { recursive: true })
      }
    })

    it('fails when the server refuses a file', async () => {
      const home = await mkdtemp(join(tmpdir(), 'holdfast-bench-test-'))
      const server = await startServer()
      try {
        const client = makeClient('curl', { ...server, ...holdfastDialect })
        const command = client.get({ names, prefix: 'round-1-' })
        const failure: unknown = await observeCommand(command, {
          directory: home,
          log: join(home, 'log'),
        }).catch((error: unknown) => error)
        expect(failure)
          .to.have.property('message')
          .that.matches(/ended with 22/)
      } finally {
        await server.stop()
        await rm(home, { recursive: true })
      }
    })
  })
}

/** A server that keeps what is put to `/upload/NAME`, and has it at `/serve/NAME`, for who logs in. */
async function startServer() {
  const kept = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const [, verb = '', name = ''] = request.url?.split('/') ?? []
    if (request.headers['x-auth-name'] !== 'demo') response.writeHead(401).end()
    else if (request.method === 'PUT' && verb === 'upload') {
      void buffer(request).then((content) => {
        kept.set(name, content)
        response.end('OK')
      })
    } else response.writeHead(kept.has(name) ? 200 : 404).end(kept.get(name))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as AddressInfo
  return { name: 'kept', port, pid: process.pid, files: '', startMs: 0, stop }
}
