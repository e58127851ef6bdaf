import { createMemoryBlobStore } from '@holdfast/core/memory'
import {
  createFileService,
  type Credential,
  type FileService,
  type History,
  type Usage,
} from '@holdfast/core'
import type { AuditEvent } from '@holdfast/http-koa'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { sweepKept } from '../../src/serve/sweeps.ts'

const day = 86_400_000

interface Line {
  readonly level: number
  readonly msg: string
  readonly customer?: string
  readonly versions?: number
  readonly bytes?: number
  readonly reason?: string
  readonly err?: { readonly message: string }
}

/** A service that keeps for ten days, in which each of three customers has replaced a file of three bytes twice. */
async function open({
  keepQuota,
  breakPurge = (service) => service,
}: {
  readonly keepQuota?: number
  readonly breakPurge?: (service: FileService) => Pick<FileService, 'purgeKept'>
} = {}) {
  let time = 1_000_000_000_000
  let skew = 0
  const lines: Line[] = []
  const events: AuditEvent[] = []
  const purged: (readonly [string, number])[] = []
  const kept: Usage[] = []
  const store = createMemoryBlobStore(() => new Date(time))
  const service = createFileService({
    ...{ store, now: () => time, keepReplacedMs: 10 * day },
    ...(keepQuota !== undefined && { keepQuota }),
  })
  const credentials: Credential[] = [
    { name: 'alice', passwordHash: 'x', keepReplacedMs: 20 * day },
    { name: 'alice/ci', login: 'ci', passwordHash: 'x', may: ['list'], keepReplacedMs: 20 * day },
    { name: 'bob', passwordHash: 'x' },
  ]
  for (const name of ['alice', 'bob', 'removed']) {
    for (let round = 0; round < 3; round++) {
      await service.filesOf({ name }).upload('a', new Uint8Array(3))
      time += 2_000
    }
  }
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  const historyOf = (): History => {
    if (store.history === undefined) throw new Error('The memory store keeps')
    return store.history
  }
  const versionsOf = async (customer: string) => {
    let count = 0
    for await (const page of historyOf().kept(customer)) count += page.length
    return count
  }
  const begin = () =>
    sweepKept(breakPurge(service), {
      ...{ log, history: historyOf(), credentials: () => credentials, pauseMs: 1 },
      audit: async (event) => void events.push(event),
      watch: {
        onPurged: (...call) => void purged.push(call),
        onKept: (usage) => void kept.push(usage),
      },
      clocks: () => ({ wall: time + skew, monotonic: time }),
    })
  /** Lets a whole sweep pass that begins from now on. */
  const sweepAgain = async () => {
    const before = kept.length
    await until('it has swept', () => kept.length > before + 1)
  }
  return {
    ...{ lines, events, purged, kept, versionsOf, begin, sweepAgain },
    wait: (ms: number) => void (time += ms),
    jump: (ms: number) => void (skew += ms),
  }
}

describe('sweepKept', () => {
  it("removes what is outdated by each customer's rule, or by the service's, and logs it", async () => {
    const site = await open()
    const sweeping = site.begin()
    await site.sweepAgain()
    expect(site.kept.at(-1)).to.deep.equal({ blobs: 6, bytes: 18 })
    site.wait(11 * day)
    await site.sweepAgain()
    expect(await site.versionsOf('alice')).to.equal(2)
    expect(await site.versionsOf('bob')).to.equal(0)
    expect(await site.versionsOf('removed')).to.equal(0)
    site.wait(10 * day)
    await site.sweepAgain()
    await sweeping.close()
    expect(await site.versionsOf('alice')).to.equal(0)
    expect(site.kept.at(-1)).to.deep.equal({ blobs: 0, bytes: 0 })
    const found = site.lines.map(({ msg, customer, versions, bytes }) => [
      ...[msg, customer, versions, bytes],
    ])
    const row = (customer: string) => ['outdated versions were removed', customer, 2, 6]
    expect(found).to.have.deep.members([row('bob'), row('removed'), row('alice')])
    expect(found.at(-1)).to.deep.equal(row('alice'))
    expect(site.purged).to.deep.equal(Array(3).fill(['outdated', 6]))
    expect(site.events).to.deep.equal([])
  })

  it('removes and records what is beyond the limit, one event for each customer', async () => {
    const site = await open({ keepQuota: 3 })
    const sweeping = site.begin()
    await site.sweepAgain()
    await sweeping.close()
    expect(site.kept.at(-1)).to.deep.equal({ blobs: 3, bytes: 9 })
    expect(site.events).to.have.length(3)
    expect(site.events.map(({ customer }) => customer)).to.have.members(['alice', 'bob', 'removed'])
    expect(site.events[0]).to.deep.include({
      ...{ event: 'purge', outcome: 'ok', file: undefined, bytes: 3, versions: 1 },
    })
    expect(site.lines[0]).to.deep.include({
      ...{ level: 30, msg: 'versions beyond the limit were removed', versions: 1, bytes: 3 },
    })
    expect(site.purged).to.deep.equal(Array(3).fill(['surplus', 3]))
  })

  it('removes nothing after the clock has jumped, until the next sweep', async () => {
    const site = await open()
    const sweeping = site.begin()
    await site.sweepAgain()
    site.jump(-day)
    await until('it has noticed', () => site.lines.length > 0)
    await site.sweepAgain()
    await sweeping.close()
    expect(site.lines.map(({ level, msg, reason }) => [level, msg, reason])).to.deep.equal([
      [50, 'no version is removed until the next sweep', 'the clock has jumped by -86400 s'],
    ])
  })

  it('goes on with the next customer after a failure, and logs it', async () => {
    const site = await open({
      keepQuota: 0,
      breakPurge: (service) => ({
        async purgeKept(customer) {
          if (customer.name === 'alice') throw new Error('down')
          const outcome = await service.purgeKept?.(customer)
          if (outcome === undefined) throw new Error('The memory store keeps')
          return outcome
        },
      }),
    })
    const sweeping = site.begin()
    await site.sweepAgain()
    await sweeping.close()
    expect(await site.versionsOf('alice')).to.equal(2)
    expect(await site.versionsOf('bob')).to.equal(0)
    const line = site.lines.find(({ customer }) => customer === 'alice')
    expect(line).to.deep.include({ level: 40, msg: 'versions cannot be removed' })
    expect(line?.err?.message).to.equal('down')
  })

  it('sweeps no more once it is closed', async () => {
    const site = await open()
    await site.begin().close()
    const before = site.kept.length
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(site.kept.length).to.equal(before)
  })
})
