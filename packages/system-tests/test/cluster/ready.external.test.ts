import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createClient, type Client } from './support/client.ts'
import { freePorts } from './support/start-house.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'

/** After so many requests in a row that went elsewhere, a proxy that shares them out has left a server out. */
const enough = 20

describe('docs/deploy/haproxy.cfg, asking for /ready', () => {
  let sites: Site[]
  let servers: HoldfastServer[]
  let proxy: RunningProxy
  let client: Client

  before(async function () {
    this.timeout(120_000)
    const [clients = 0, store = 0, ...ports] = await freePorts(12)
    const [holdfast, admin, minio] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6, 10)]
    sites = await Promise.all(holdfast.map(() => createSite()))
    servers = await Promise.all(
      sites.map((site, index) => {
        const own = ['--port', `${holdfast[index]}`, '--admin-port', `${admin[index]}`]
        return startHoldfast([...own, '--shutdown-delay', '1h'], { cwd: site.path })
      }),
    )
    proxy = await startProxy('haproxy', { clients, store, holdfast, minio, admin })
    client = createClient(proxy, credentials)
  })

  after(async () => {
    client.close()
    await proxy.stop()
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(sites.map((site) => site.remove()))
  })

  const ask = async () => (await client.ask('/ping')).status
  const requestsAt = (server: HoldfastServer | undefined) =>
    server?.lines().filter(({ msg, path }) => msg === 'request' && path === '/ping').length ?? 0

  it('turns away from a server that is about to end, and loses no request', async function () {
    this.timeout(120_000)
    const [leaving, ...others] = servers
    await until('each server gets requests', async () => {
      expect(await ask()).to.equal(200)
      return servers.every((server) => requestsAt(server) > 0)
    })

    leaving?.signal('SIGTERM')
    let [seen, elsewhere] = [requestsAt(leaving), 0]
    await until('the proxy has turned away', async () => {
      expect(await ask()).to.equal(200)
      elsewhere = requestsAt(leaving) === seen ? elsewhere + 1 : 0
      seen = requestsAt(leaving)
      return elsewhere >= enough
    })

    leaving?.signal('SIGTERM')
    expect(await leaving?.ended).to.equal(0)
    for (let times = 0; times < enough; times++) expect(await ask()).to.equal(200)
    expect(others.every((server) => requestsAt(server) > 0)).to.be.true
  })
})
