import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
  adminUrl,
} from '@holdfast/testing'
import {
  dashboardPanels,
  printReadings,
  readDashboard,
  type Reading,
  startPrometheus,
  type RunningPrometheus,
} from '@holdfast/testing/prometheus'
import { expect } from 'chai'
import { parse } from 'yaml'

/** Panels that show nothing where there is nothing to be seen, each with the reason that its description gives. */
const mayBeEmpty: Readonly<Record<string, string>> = {
  Certificate: 'without HTTPS',
  'Servers that count together': 'without --shared-url',
}

const uploads = 6
const missing = 3

describe('A real Prometheus that scrapes a server', function () {
  this.timeout(120_000)
  let site: Site
  let server: HoldfastServer
  let prometheus: RunningPrometheus
  let readings: readonly Reading[]

  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(server.url + path, { headers: credentials, ...init })
    await answer.arrayBuffer()
    return answer.status
  }
  const put = (name: string) =>
    send(`/upload/${name}`, { method: 'PUT', body: Buffer.alloc(10_000) })
  /** Waits until Prometheus has seen it. */
  const shows = (expression: string, expected: number) =>
    until(
      `${expression} is ${expected}`,
      async () => (await prometheus.query(expression))[0]?.value === expected,
      60_000,
    )
  const values = (title: string) =>
    readings.find((reading) => reading.title === title)?.values ?? {}

  before(async () => {
    site = await createSite()
    server = await startHoldfast(['--admin-port', '0'], { cwd: site.path })
    prometheus = await startPrometheus(new URL(await adminUrl(server)).host)
    // Of what came before its first look Prometheus sees no increase.
    await shows('sum(holdfast_http_requests_total)', 0)
    for (let n = 0; n < uploads; n++) expect(await put(`${n}.txt`)).to.equal(200)
    for (let n = 0; n < missing; n++) expect(await send('/serve/none')).to.equal(400)
    expect(await send('/list')).to.equal(200)
    await send('/list', { headers: { ...credentials, 'x-auth-password': 'wrong' } })
    const files = join(site.path, 'data/files')
    await rename(files, `${files}-away`)
    expect(await send('/serve/b.txt')).to.equal(503)
    await rename(`${files}-away`, files)
    await shows('sum(holdfast_http_requests_total)', uploads + missing + 3)
    readings = await readDashboard(prometheus.url)
  })
  after(async () => {
    await prometheus.stop()
    await server.kill()
    await site.remove()
  })

  it('has what was done', async () => {
    await shows('sum(holdfast_http_requests_total{route="put", outcome="ok"})', uploads)
    await shows('sum(holdfast_http_problems_total{code="not-found"})', missing)
    await shows('holdfast_logins_total{outcome="refused"}', 1)
    await shows('holdfast_store_errors_total{operation="open", code="store-unavailable"}', 1)
    await shows('up', 1)
    await shows('holdfast_ready', 1)
  })

  for (const { title, description } of dashboardPanels()) {
    it(`has something to show on the panel "${title}"`, () => {
      const numbers = Object.values(values(title))
      const why = mayBeEmpty[title]
      if (why !== undefined) return expect(description).to.include(`Empty ${why}`)
      expect(numbers).not.to.be.empty
      expect(numbers.some(Number.isFinite), printReadings(readings)).to.be.true
    })
  }

  it('shows on the dashboard what was done', () => {
    expect(values('Ready')).to.deep.equal({ ready: 1 })
    const requests = values('Requests a second')
    expect(requests['ok']).to.be.above(0)
    // Rates are guessed towards the ends of their time, all in the same way.
    expect(Number(requests['refused']) / Number(requests['ok'])).to.be.closeTo(
      (missing + 1) / (uploads + 1),
      0.01,
    )
    const failed = values('Share of failed requests')['failed']
    expect(failed).to.be.closeTo(1 / (uploads + missing + 3), 0.001)
    const problems = values('Problems a second')
    expect(problems['not-found']).to.be.closeTo(
      missing * Number(problems['store-unavailable']),
      1e-6,
    )
    expect(values('Bytes a second')['received']).to.be.above(0)
    expect(values('Time of requests, 99th percentile')['put']).to.be.above(0)
    expect(values('Time of the store, 99th percentile')['put']).to.be.above(0)
    expect(values('Failures of the store a second')['open']).to.be.above(0)
    expect(values('Failures of the store a second')['put']).to.equal(0)
    expect(values('Logins a second that were not accepted')['refused']).to.be.above(0)
    expect(values('Lines in the log')['error']).to.be.above(0)
    expect(Object.values(values('Room on the disk'))[0]).to.be.above(0)
    expect(values('Files refused')).to.deep.equal({ audit: 0, certificate: 0, customers: 0 })
    expect(Object.values(values('Memory'))[0]).to.be.above(10_000_000)
  })

  it('understands every alert, and has loaded them all', async () => {
    const file = new URL('../../../../docs/deploy/alerts.yml', import.meta.url)
    const { groups } = parse(await readFile(file, 'utf8')) as {
      readonly groups: readonly {
        readonly rules: readonly { readonly alert: string; readonly expr: string }[]
      }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    for (const { expr } of rules) await prometheus.query(expr)
    const answer = await fetch(`${prometheus.url}/api/v1/rules?type=alert`)
    const loaded = (await answer.json()) as {
      readonly data: {
        readonly groups: readonly { readonly rules: readonly { readonly name: string }[] }[]
      }
    }
    const names = loaded.data.groups.flatMap((group) => group.rules.map(({ name }) => name))
    expect(names).to.have.members(rules.map(({ alert }) => alert))
  })

  it('wakes the operator for what went wrong', async () => {
    const firing = (alert: string) =>
      shows(`count(ALERTS{alertname="${alert}", alertstate=~"firing|pending"})`, 1)
    await firing('HoldfastLogsErrors')
    await firing('HoldfastStoreFails')
    await server.kill()
    await firing('HoldfastDown')
  })
})
