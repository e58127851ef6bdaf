import { FileServiceError, type Usage } from '@holdfast/core'
import type { AnsweredRequest, AuditEvent } from '@holdfast/http-koa'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { guardSpace } from '../../src/serve/guard-space.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly customer?: string
}

/** A guard of a disk with `free` bytes, on which `kept` bytes are kept for alice. */
function open({
  free,
  kept = 1_000,
  least = 100,
}: {
  free: number
  kept?: number
  least?: number
}) {
  const site = {
    ...{ free, kept, isBroken: false },
    lines: [] as Line[],
    asked: [] as number[],
    events: [] as AuditEvent[],
    purged: [] as (readonly [string, number])[],
    looks: 0,
  }
  const log = pino({}, { write: (line: string) => void site.lines.push(JSON.parse(line) as Line) })
  const freeKept = async (bytes: number): Promise<ReadonlyMap<string, Usage>> => {
    site.asked.push(bytes)
    if (site.isBroken) throw new Error('down')
    const removed = Math.min(bytes, site.kept)
    site.kept -= removed
    site.free += removed
    return new Map(removed > 0 ? [['alice', { blobs: 2, bytes: removed }]] : [])
  }
  const guard = guardSpace(
    { freeKept },
    {
      ...{ log, least, pauseMs: 1 },
      async freeSpace() {
        site.looks++
        return site.free
      },
      audit: async (event) => void site.events.push(event),
      watch: { onPurged: (...call) => void site.purged.push(call) },
    },
  )
  const looksAgain = async (times = 3) => {
    const before = site.looks
    await until('it has looked', () => site.looks > before + times)
  }
  return { site, guard, looksAgain }
}

/** A request of 500 bytes that failed with `failure`. */
const failed = (failure?: Error) => ({ bytesIn: 500, failure }) as AnsweredRequest

const full = failed(
  new FileServiceError('insufficient-storage', 'The store is full', { cause: new Error('ENOSPC') }),
)

describe('guardSpace', () => {
  it('removes what is kept below the limit, until twice as much is free, and says so', async () => {
    const { site, guard, looksAgain } = open({ free: 40 })
    await looksAgain()
    await guard.close()
    expect(site.asked).to.deep.equal([160])
    expect(site.lines.map(({ level, msg, customer }) => [level, msg, customer])).to.deep.equal([
      [40, 'versions were removed to make room', 'alice'],
    ])
    expect(site.purged).to.deep.equal([['space', 160]])
    expect(site.events[0]).to.deep.include({
      ...{ event: 'purge', outcome: 'ok', customer: 'alice', versions: 2, bytes: 160 },
    })
  })

  it('removes nothing while enough is free', async () => {
    const { site, guard, looksAgain } = open({ free: 100 })
    await looksAgain()
    await guard.close()
    expect(site.asked).to.deep.equal([])
  })

  it('says nothing where nothing is left to remove', async () => {
    const { site, guard, looksAgain } = open({ free: 40, kept: 0 })
    await looksAgain()
    await guard.close()
    expect(site.asked.length).to.be.greaterThan(0)
    expect(site.lines).to.deep.equal([])
  })

  it('removes as much as had arrived of an upload for which there was no room', async () => {
    const { site, guard } = open({ free: 200 })
    const passedOn: AnsweredRequest[] = []
    const onAnswered = guard.onAnswered((answered) => void passedOn.push(answered))
    onAnswered(failed())
    onAnswered(failed(new FileServiceError('quota-exceeded', 'The quota is used up')))
    // Refused for its announced length, before anything was written.
    onAnswered(failed(new FileServiceError('insufficient-storage', 'The disk has no room')))
    // These copy bytes of the store.
    onAnswered({ ...full, route: 'restore' })
    onAnswered({ ...full, route: 'rename' })
    expect(site.asked).to.deep.equal([])
    onAnswered(full)
    onAnswered(full)
    await until('it is removed', () => site.kept === 500)
    await guard.close()
    expect(site.asked).to.deep.equal([500])
    expect(passedOn).to.have.length(7)
  })

  it('logs a failure, and goes on', async () => {
    const { site, guard } = open({ free: 40 })
    site.isBroken = true
    await until('it has failed', () => site.lines.length > 0)
    site.isBroken = false
    await until('it is removed', () => site.kept < 1_000)
    await guard.close()
    expect(site.lines[0]).to.deep.include({
      level: 40,
      msg: 'versions cannot be removed to make room',
    })
  })
})
