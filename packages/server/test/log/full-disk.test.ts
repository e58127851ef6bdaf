import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSite, until, describeWithDisks, makeSmallDisk } from '@holdfast/testing'
import { expect } from 'chai'
import { startSilentServer } from './silent-server.ts'

const dropped = 'holdfast_log_lines_dropped_total'

interface Line {
  readonly msg?: string
  readonly lost?: number
  readonly event?: string
  readonly count?: number
}

/** The lines of a file that are whole; a disk that is full cuts lines off. */
function linesOf(path: string): readonly Line[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Line]
      } catch {
        return []
      }
    })
}

/** Takes all the room of a disk. */
function fill(disk: string): void {
  const filler = join(disk, 'filler')
  const { bsize, bavail } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(bsize * (bavail - 1)))
  try {
    while (true) writeFileSync(filler, Buffer.alloc(bsize), { flag: 'a' })
  } catch (error) {
    expect(error).to.have.property('code', 'ENOSPC')
  }
}

describeWithDisks('A server whose log is on a disk that gets full', () => {
  for (const workers of ['1', '2']) {
    it(`serves, and says how many lines are missing when there is room (workers: ${workers})`, async () => {
      const site = await createSite()
      const place = join(site.path, 'logs')
      const disk = makeSmallDisk(place, 'memory')
      try {
        const log = join(place, 'log')
        const trail = join(place, 'audit.jsonl')
        const flags = ['--workers', workers, '--audit-log', trail]
        const lineOf = (serve: string) => `exec ${serve} >> ${log}`
        await using server = await startSilentServer(lineOf, flags, site)
        const put = () => server.ask('/upload/a.txt', { method: 'PUT', body: 'text' })
        fill(place)
        // What is left of a block may still take lines.
        await until('lines are dropped, and events', async () => {
          expect(await put()).to.equal(200)
          return (await server.metric(dropped)) > 20
        })
        const warned = () => linesOf(log).filter(({ msg }) => msg?.startsWith('The log is written'))
        const before = warned().length
        rmSync(join(place, 'filler'))
        await until('the log and the trail say that lines are missing', async () => {
          expect(await put()).to.equal(200)
          const omitted = linesOf(trail).filter(({ event }) => event === 'omitted')
          return warned().length > before && omitted.length > 0
        })
        expect(Number(warned().at(-1)?.lost)).to.be.above(0)
        // Another worker may only now say that lines of its own are missing.
        const uploads = () => linesOf(trail).filter(({ event }) => event === 'upload').length
        const count = uploads()
        expect(await put()).to.equal(200)
        expect(uploads()).to.equal(count + 1)
        server.signal('SIGTERM')
        await server.ended()
        // Each process says it once.
        expect(warned().length - before).to.be.at.most(Number(workers) === 1 ? 1 : 3)
      } finally {
        disk.remove()
        await site.remove()
      }
    }).timeout(120_000)
  }
})
