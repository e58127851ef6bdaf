// It measures memory.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Connection,
  createSite,
  credentials,
  type HoldfastServer,
  openConnection,
  residentMiB,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

/** What docs/reliability.md states. V8 keeps about 110 MiB for young objects once it has needed them, and the store 32 MiB of names. */
const most = { first: 352, each: 2 } as const

/** How many lists are opened, and how many more. */
const [first, more] = [20, 60]
const files = 20_000

/** Long, so that a list is more than the system buffers for a connection. */
const nameAt = (index: number) => `${String(index).padStart(6, '0')} ${'x'.repeat(193)}`

const login = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`)
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${login.join('')}\r\n`

describe('Lists that their readers do not read', function () {
  this.timeout(300_000)
  let site: Site
  let server: HoldfastServer
  before(async () => {
    site = await createSite()
    server = await startHoldfast(['--max-requests-per-customer', '200'], { cwd: site.path })
    const directory = join(site.path, 'data/files/demo')
    await mkdir(directory, { recursive: true })
    for (let at = 0; at < files; at += 1000) {
      const some = Array.from({ length: 1000 }, (_, index) => join(directory, nameAt(at + index)))
      await Promise.all(some.map((path) => writeFile(path, '')))
    }
  })
  after(async () => {
    await server.kill()
    await site.remove()
  })

  it(`take little memory, each of ${first + more} of ${files} names, and others are answered`, async () => {
    const readers: Connection[] = []
    const open = async (count: number) => {
      // One after the other: what walks at the same time take is not what is measured.
      for (let n = 0; n < count; n++) {
        const reader = await openConnection(server.port)
        readers.push(reader)
        reader.socket.once('data', () => reader.socket.pause())
        reader.write(get('/list'))
        await reader.saw('HTTP/1.1 200 OK')
      }
      return (await residentMiB(server.pid)).most
    }
    const { now: before } = await residentMiB(server.pid)
    const early = await open(first)
    const late = await open(more)
    expect(await (await fetch(`${server.url}/ping`)).text()).to.equal('pong')
    for (const { socket } of readers) socket.destroy()
    const [grown, each] = [early - before, (late - early) / more]
    console.log(
      `figures: stalled lists: ${first} of ${files} names: ${grown.toFixed(0)} MiB at most, each of ${more} more ${each.toFixed(2)}`,
    )
    expect(grown, 'MiB of the first').to.be.below(most.first)
    expect(each, 'MiB of each other one').to.be.below(most.each)
  })
})
