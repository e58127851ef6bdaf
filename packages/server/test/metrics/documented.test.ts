import { readFileSync } from 'node:fs'
import {
  type HoldfastServer,
  startHoldfast,
  createTlsSite,
  type TlsSite,
  scrape,
  type Scrape,
} from '@holdfast/testing'
import { expect } from 'chai'

/** The rows of the tables: name, type and labels. */
const documented = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| `(holdfast|process|nodejs)_/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', type = '', labels = '']) => ({
    name: name.replaceAll('`', ''),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  }))

describe('The metrics in docs/metrics.md', function () {
  this.timeout(60_000)
  let site: TlsSite
  const servers: HoldfastServer[] = []
  const told: Scrape[] = []

  // One with HTTPS; one with workers and events that counts with others, whose Redis is away: together they report all there is.
  before(async () => {
    site = await createTlsSite()
    const alone = await site.start(['--admin-port', '0'])
    servers.push(alone)
    await site.curl('-T', 'ca.pem', `${alone.url}/upload/a.txt`)
    const shared = ['--shared-url', 'redis://127.0.0.1:1']
    const events = ['--audit-log', 'audit.jsonl', '--webhook', 'https://127.0.0.1:1/']
    const flags = ['--admin-port', '0', '--workers', '2', '--data', 'others', ...shared, ...events]
    const env = { HOLDFAST_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}` }
    servers.push(await startHoldfast(flags, { cwd: site.path, env }))
    for (const server of servers) told.push(await scrape(server))
  })
  after(async () => {
    for (const server of servers) await server.kill()
    await site.remove()
  })

  it('are all that servers report, each once, with their types', () => {
    const types = new Map(told.flatMap((one) => [...one.types]))
    const rows = documented.map(({ name, type }) => `${name} ${type}`)
    expect(rows).to.have.members([...types].map(([name, type]) => `${name} ${type}`))
  })

  it('have the labels that they are said to have', () => {
    for (const { name, labels } of documented) {
      const samples = told.flatMap((one) => one.samples(name))
      const found = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
      for (const general of ['process', 'le']) found.delete(general)
      // What Node.js has none of just now has no labels either.
      if (samples.length > 0) expect([...found], name).to.have.members(labels)
      else expect(name).to.match(/^nodejs_(active_requests|gc_duration_seconds)$/)
    }
  })

  it('never name a customer or a file', () => {
    const labels = told.flatMap((one) =>
      documented.flatMap(({ name }) =>
        one.samples(name).flatMap((sample) => Object.values(sample.labels)),
      ),
    )
    expect(labels).to.include('put')
    expect(labels).not.to.include.oneOf(['demo', 'a.txt'])
  })
})
