import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { until } from '../support/until.ts'
import {
  beginDownload,
  size as largeSize,
  storeLarge,
  type StalledDownload,
} from './begin-download.ts'
import { startFaultSite, type FaultSite } from './fault-site.ts'

const uploads = 60
/** So many have what they need before there is nothing left. */
const early = 10
const size = 200_000
const figures = { unavailable: 0, cut: 0, stored: 0 }

/** Lets the server open `more` descriptors than it has, and no others. */
function limitDescriptors(site: FaultSite, more: number): void {
  const limit = site.descriptors() + more
  execFileSync('prlimit', ['--pid', String(site.server.pid), `--nofile=${limit}`])
}

/** Many slow uploads at a time; resolves with their statuses, by name. */
async function uploadTogether(site: FaultSite): Promise<ReadonlyMap<string, number>> {
  const names = Array.from({ length: uploads }, (_, index) => `upload-${index}`)
  const begin = (name: string) => site.beginUpload(name, size)
  const first = names.slice(0, early).map(begin)
  await until('the first are under way', async () => (await site.litter()).length === early)
  const stalled = [...first, ...names.slice(early).map(begin)]
  const statuses = await Promise.all(stalled.map((upload) => upload.finish()))
  return new Map(names.map((name, index) => [name, statuses[index] ?? 0]))
}

describe('holdfast serve without enough descriptors', () => {
  after(() => {
    const { unavailable, cut, stored } = figures
    console.log(
      `figures: no descriptors left: ${unavailable} requests answered with 503, ${cut} connections closed, ${stored} uploads stored`,
    )
  })

  it('refuses uploads or closes connections, stores what it acknowledges only, and recovers', async () => {
    await using site = await startFaultSite()
    limitDescriptors(site, 2 * early + 10)
    const statuses = await uploadTogether(site)
    await site.expectCalm()

    const stored = [...statuses].filter(([, status]) => status === 200).map(([name]) => name)
    expect([...new Set(statuses.values())]).to.include(503)
    for (const status of statuses.values()) expect(status).to.be.oneOf([0, 200, 503])
    const listed = JSON.parse((await site.ask('GET', '/list')).slice('200 '.length)) as string[]
    expect(new Set(listed)).to.deep.equal(new Set(['kept', ...stored]))
    for (const name of stored) {
      expect(await site.ask('GET', `/serve/${name}`)).to.equal(`200 ${'x'.repeat(size)}`)
    }
    figures.stored += stored.length
    figures.unavailable += [...statuses.values()].filter((status) => status === 503).length
    figures.cut += [...statuses.values()].filter((status) => status === 0).length
    expect(await site.ask('PUT', '/upload/after', 'new')).to.equal('200 OK')
    await site.expectCalm()
  })

  it('serves what it has begun to serve, refuses other downloads or closes connections, and recovers', async () => {
    await using site = await startFaultSite()
    await storeLarge(site)
    limitDescriptors(site, 2 * early + 10)
    const begun: StalledDownload[] = []
    while (begun.length < early) begun.push(await beginDownload(site))
    const others = await Promise.all(
      Array.from({ length: 50 }, () => site.ask('GET', '/serve/kept')),
    )
    for (const answer of others) {
      expect(answer).to.be.oneOf(['0 cut', '200 old', '503 Storage unavailable'])
      figures.unavailable += answer.startsWith('503') ? 1 : 0
      figures.cut += answer === '0 cut' ? 1 : 0
    }
    for (const download of begun) expect(await download.finish()).to.equal(largeSize)
    expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
    await site.expectCalm()
  })
})
