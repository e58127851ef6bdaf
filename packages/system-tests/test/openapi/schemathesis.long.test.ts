import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSite, type HoldfastServer, type Site, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { runSchemathesis } from './schemathesis.ts'

const description = fileURLToPath(new URL('../../../../docs/openapi.yaml', import.meta.url))

describe('schemathesis, with docs/openapi.yaml', function () {
  // The first time it has to be installed.
  this.timeout(600_000)
  let site: Site
  let server: HoldfastServer

  before(async () => {
    site = await createSite()
    server = await startHoldfast([], { cwd: site.path })
  })
  after(async () => {
    await server.kill()
    await site.remove()
  })

  it('finds nothing wrong with the answers of a server', async () => {
    const { code, output } = await runSchemathesis(server.url, description, [
      ...['--max-examples', '5', '--seed', '77'],
    ])
    expect(code, output).to.equal(0)
    const requests = Number(/^ *(\d+) generated/m.exec(output)?.[1])
    expect(requests).to.be.above(300)
    console.log(`figures: schemathesis: ${requests} requests`)
  })

  it('finds an answer that is not described', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-openapi-'))
    try {
      const file = join(folder, 'openapi.yaml')
      const text = await readFile(description, 'utf8')
      const pong = "{ $ref: '#/components/responses/Pong' }"
      await writeFile(file, text.replaceAll(`'200': ${pong}`, `'201': ${pong}`))
      const { code, output } = await runSchemathesis(server.url, file, [
        ...['--include-operation-id', 'ping', '--phases', 'coverage'],
      ])
      expect(code, output).to.equal(1)
      expect(output).to.match(/undocumented.*status/i)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
