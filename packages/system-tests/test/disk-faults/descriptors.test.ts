import { execFileSync } from 'node:child_process'
import { Agent } from 'node:http'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { beginSending, type Sending } from '../crash/send.ts'
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

function sendWhole({ outgoing, answer }: Sending, rest = '') {
  outgoing.end(rest)
  return answer
}

/** Fails unless these uploads, and no others, are there; and the next one works. */
async function expectStored(site: FaultSite, names: readonly string[]): Promise<void> {
  const listed = JSON.parse((await site.ask('GET', '/list')).slice('200 '.length)) as string[]
  expect(new Set(listed)).to.deep.equal(new Set(['kept', ...names]))
  for (const name of names) {
    expect(await site.ask('GET', `/serve/${name}`)).to.equal(`200 ${'x'.repeat(size)}`)
  }
  expect(await site.ask('PUT', '/upload/after', 'new')).to.equal('200 OK')
  await site.expectCalm()
}

function count(statuses: Iterable<number>): void {
  for (const status of statuses) {
    if (status === 200) figures.stored++
    else if (status === 503) figures.unavailable++
    else figures.cut++
  }
}

describe('holdfast serve without enough descriptors', () => {
  after(() => {
    const { unavailable, cut, stored } = figures
    console.log(
      `figures: no descriptors left: ${unavailable} requests answered with 503, ${cut} connections closed, ${stored} uploads stored`,
    )
  })

  it('has uploads wait, refuses them or closes connections, stores what it acknowledges only, and recovers', async () => {
    await using site = await startFaultSite()
    limitDescriptors(site, 2 * early + 10)
    const statuses = await uploadTogether(site)
    await site.expectCalm()

    const stored = [...statuses].filter(([, status]) => status === 200).map(([name]) => name)
    // Whether any is refused is chance: a connection may as well wait until it can be accepted.
    for (const status of statuses.values()) expect(status).to.be.oneOf([0, 200, 503])
    await expectStored(site, stored)
    count(statuses.values())
  })

  it('answers 503 to uploads on connections that there are, stores what it acknowledges only, and recovers', async () => {
    await using site = await startFaultSite()
    const { url } = site.server
    const agent = new Agent({ keepAlive: true })
    const names = Array.from({ length: 3 * early }, (_, index) => `upload-${index}`)
    await Promise.all(names.map(() => sendWhole(beginSending(url, 'GET', '/ping', {}, agent))))
    limitDescriptors(site, early)
    const headers = { 'content-length': size }
    const sendings = names.map((name) =>
      beginSending(url, 'PUT', `/upload/${name}`, headers, agent),
    )
    for (const { outgoing } of sendings) outgoing.write('x'.repeat(size / 2))
    // None can be complete yet, so nobody gives descriptors back.
    expect((await Promise.race(sendings.map(({ answer }) => answer))).status).to.equal(503)
    const answers = await Promise.all(
      sendings.map((sending) => sendWhole(sending, 'x'.repeat(size / 2))),
    )
    agent.destroy()
    await site.expectCalm()
    for (const { status } of answers) expect(status).to.be.oneOf([200, 503])
    const stored = names.filter((_, index) => answers[index]?.status === 200)
    await expectStored(site, stored)
    count(answers.map(({ status }) => status))
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
