import { existsSync, fstatSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, until, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { createReceiver, type Placement } from '../../../src/remote/get/receive-file.ts'

describe('createReceiver', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const login = { url: 'http://x', name: 'demo', password: 'x' }
  const noDisplay = { update: () => {}, end: () => {} }
  const placementOf = (base: string, parts: Partial<Placement> = {}): Placement => ({
    identity: { login, name: base, target: { directory: directory.path, base } },
    sync: async () => {},
    modified: '',
    beforePlacing: async () => {},
    ...parts,
  })
  const downloadOf = (body: ReadableStream<Uint8Array>, size: number) =>
    ({ size, start: 0, etag: '"1"', body }) as never
  const receive = (content: string, size: number, placement: Placement) =>
    createReceiver().receive(downloadOf(new Blob([content]).stream(), size), placement, noDisplay)

  for (const [kind, size] of [
    ['small', 3],
    ['large', 300_000],
  ] as const) {
    it(`shows the version of a ${kind} file as it was placed, whatever happens to it until it is synced`, async () => {
      const path = join(directory.path, 'a')
      const disk = Promise.withResolvers<undefined>()
      let placedAt = 0n
      const receiving = receive(
        'x'.repeat(size),
        size,
        placementOf('a', {
          sync: () => disk.promise,
          afterPlacing: (file) => (placedAt = fstatSync(file, { bigint: true }).ctimeNs),
        }),
      )
      await until('the file has its name', () => existsSync(path))
      expect(placedAt).to.equal((await stat(path, { bigint: true })).ctimeNs)
      await delay(20)
      await writeFile(path, 'y'.repeat(size))
      disk.resolve(undefined)
      await (
        await receiving
      ).placed
      expect(placedAt < (await stat(path, { bigint: true })).ctimeNs).to.equal(true)
    })
  }

  it('keeps nothing of a small file whose length is wrong, or that may not be placed', async () => {
    const refuse = placementOf('b', { beforePlacing: () => Promise.reject(new Error('no')) })
    for (const [receiving, message] of [
      [receive('short', 6, placementOf('a')), 'The file has 6 bytes on the server, but 5'],
      [receive('whole', 5, refuse), 'no'],
    ] as const) {
      const failure = await (await receiving).placed.catch((error: unknown) => error)
      expect(String(failure)).to.include(message)
    }
    expect(await readdir(directory.path)).to.deep.equal([])
  })

  it('cancels the body of a file that cannot be written', async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (isCancelled = true),
    })
    const placement = placementOf('a')
    const target = { directory: join(directory.path, 'gone'), base: 'a' }
    const elsewhere = { ...placement, identity: { ...placement.identity, target } }
    const failure = await createReceiver()
      .receive(downloadOf(body, 300_000), elsewhere, noDisplay)
      .catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'ENOENT')
    expect(isCancelled).to.equal(true)
    await mkdir(target.directory)
    expect(await readdir(target.directory)).to.deep.equal([])
  })

  it('takes some hundred small files at most while the disk keeps the first waiting, also of empty ones', async () => {
    const disk = Promise.withResolvers<undefined>()
    const receiver = createReceiver()
    const receiveEmpty = (name: string) => {
      const placement = placementOf(name, { sync: () => disk.promise })
      return receiver.receive(downloadOf(new Blob([]).stream(), 0), placement, noDisplay)
    }
    const begun: ReturnType<typeof receiveEmpty>[] = []
    let isHeld = false
    while (!isHeld && begun.length < 1000) {
      const receiving = receiveEmpty(`file-${begun.length}`)
      begun.push(receiving)
      isHeld = await Promise.race([receiving.then(() => false), delay(2_000, true)])
    }
    expect(begun.length).to.be.within(250, 300)
    disk.resolve(undefined)
    for (const each of begun) await (await each).placed
  }).timeout(60_000)
})
