import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until, describeWithDisks } from '@holdfast/testing'
import { expect } from 'chai'
import { countFailures, startFaultSite, type FaultSite } from './fault-site.ts'

/** Every request but of files that are to be read, and whether it changes something. */
const requests = [
  ['PUT', '/upload/new', 'new'],
  ['PUT', '/upload/kept', 'new'],
  ['DELETE', '/delete/kept'],
] as const

const readings = [
  ['GET', '/serve/kept'],
  ['GET', '/serve/missing'],
  ['HEAD', '/serve/kept'],
  ['GET', '/list'],
] as const

async function expectEach(site: FaultSite, all: typeof requests | typeof readings, answer: string) {
  for (const [method, path, body] of all) {
    const expected = method === 'HEAD' ? `${answer.slice(0, 3)} ` : answer
    expect(await site.ask(method, path, body), `${method} ${path}`).to.equal(expected)
  }
}

async function expectWorking(site: FaultSite): Promise<void> {
  expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
  expect(await site.ask('PUT', '/upload/new', 'new')).to.equal('200 OK')
  expect(await site.ask('GET', '/list')).to.equal('200 ["kept","new"]')
  expect(await site.ask('DELETE', '/delete/new')).to.equal('200 OK')
  await site.expectCalm()
}

describeWithDisks('holdfast serve on a disk of its own', () => {
  after(() => console.log(`figures: real faults of disks: ${countFailures()} failed requests`))

  it('that is read-only, answers changes with 503, serves, and works when it is writable again', async () => {
    await using site = await startFaultSite({ ownDisk: 'ext4' })
    site.disk?.remount('ro')
    await expectEach(site, requests, '503 Storage unavailable')
    expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
    expect(await site.ask('GET', '/serve/missing')).to.equal('400 File not found')
    expect(await site.ask('GET', '/list')).to.equal('200 ["kept"]')
    site.disk?.remount('rw')
    await expectWorking(site)
  })

  it('that the kernel has made read-only, believes what is there and not what is missing', async () => {
    await using site = await startFaultSite({ ownDisk: 'ext4' })
    site.disk?.forceReadOnly()
    await expectEach(site, requests, '503 Storage unavailable')
    expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
    for (const path of ['/serve/missing', '/list', '/list?details=1']) {
      expect(await site.ask('GET', path), path).to.equal('503 Storage unavailable')
    }
    site.disk?.remount('rw')
    await expectWorking(site)
  })

  it('that does not report what kind the entries of directories are, lists files and nothing else', async () => {
    await using site = await startFaultSite({ ownDisk: 'kindless' })
    expect(await site.ask('PUT', '/upload/%E2%82%AC', 'new')).to.equal('200 OK')
    await mkdir(join(site.data, 'files', 'demo', 'directory'))
    expect(await site.ask('GET', '/list')).to.equal('200 ["kept","\u20ac"]')
    await site.expectCalm()
  })

  it('that is read-only when it is stopped, stops all the same, and says what it could not remove', async () => {
    await using site = await startFaultSite({ ownDisk: 'ext4' })
    site.disk?.remount('ro')
    site.server.signal('SIGTERM')
    expect(await site.server.ended).to.equal(0)
    const { msg } = await site.server.logged('Cannot remove ')
    expect(msg).to.include('EROFS').and.include('the next start')
    await site.server.logged('stopped')
  })

  it('that is unmounted, answers 503, makes nothing below, and works when it is mounted again', async () => {
    await using site = await startFaultSite({ ownDisk: 'ext4' })
    site.disk?.unmount()
    await expectEach(site, requests, '503 Storage unavailable')
    await expectEach(site, readings, '503 Storage unavailable')
    expect(await readdir(site.data)).to.deep.equal([])
    site.disk?.mount()
    await expectWorking(site)
  })

  it('that is unmounted during an upload, does not acknowledge it', async () => {
    await using site = await startFaultSite({ ownDisk: 'ext4' })
    const upload = site.beginUpload('kept', 1_000_000)
    await until('the upload is under way', async () => (await site.litter()).length > 0)
    site.disk?.unmount(true)
    expect(await upload.finish()).to.equal(503)
    expect(await readdir(site.data)).to.deep.equal([])
    // A file system that is still in use could not be mounted a second time.
    await until('the disk is free', () => tryMounting(site))
    await expectWorking(site)
  })

  it('that is full, answers 507 a thousand times, without a trace, and works when there is room', async () => {
    await using site = await startFaultSite({ ownDisk: 'memory' })
    const fill = (name: string, bytes: number) =>
      site.ask('PUT', `/upload/${name}`, Buffer.alloc(bytes))
    const filled: string[] = []
    for (const size of [1_000_000, 100_000]) {
      while ((await fill(`fill-${filled.length}`, size)) === '200 OK')
        filled.push(`fill-${filled.length}`)
    }
    expect(filled).to.have.length.within(8, 20)
    const few = async (count: number) => {
      for (let index = 0; index < count; index += 8) {
        const names = ['kept', 'kept', 'kept', 'kept', 'a', 'b', 'c', 'd']
        const answers = await Promise.all(names.map((name) => fill(name, 100_000)))
        for (const answer of answers) expect(answer).to.equal('507 Insufficient storage')
      }
    }
    await few(400)
    const before = await memoryOf(site)
    await few(800)
    expect((await memoryOf(site)) - before, 'growth in MiB, of 80 that came').to.be.below(64)
    expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
    for (const name of filled) {
      expect(await site.ask('DELETE', `/delete/${name}`)).to.equal('200 OK')
    }
    await expectWorking(site)
  })
})

function tryMounting({ disk, data }: FaultSite): boolean {
  try {
    disk?.mount()
    return true
  } catch {
    return data === ''
  }
}

/** MiB that the server has in memory. */
async function memoryOf({ server }: FaultSite): Promise<number> {
  const status = await readFile(join('/proc', String(server.pid), 'status'), 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
