import { join } from 'node:path'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { startServer, type RunningServer } from '../../src/serve/start-server.ts'

describe('cors-origin', () => {
  let site: Site
  let server: RunningServer | undefined
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    await server?.close(AbortSignal.abort())
    await site.remove()
  })

  const configOf = (flags: Readonly<Record<string, string>>) => {
    const paths = { data: join(site.path, 'data'), customers: join(site.path, 'customers.yaml') }
    return resolveConfig({ flags: { port: '0', ...paths, ...flags } })
  }
  /** The origin that a script of `origin` reads to be let in. */
  const accessOf = async (url: string, origin: string) => {
    const answer = await fetch(`${url}/ping`, { headers: { Origin: origin } })
    expect(answer.status).to.equal(200)
    return answer.headers.get('access-control-allow-origin')
  }

  it('lets scripts of each of its origins use a server, and no others', async () => {
    const origins = ['https://app.example.com', 'http://localhost:8080']
    server = await startServer(
      configOf({ 'cors-origin': origins.join(', ') }),
      pino({ level: 'silent' }),
    )
    for (const origin of origins) expect(await accessOf(server.url, origin)).to.equal(origin)
    expect(await accessOf(server.url, 'https://other.example.com')).to.equal(null)
  })

  it('is refused with the remedy where it has a path', () => {
    expect(() => configOf({ 'cors-origin': 'https://app.example.com/' })).to.throw(
      'has "https://app.example.com/", which is not an origin',
    )
  })
})
