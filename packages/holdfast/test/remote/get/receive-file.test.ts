import { createHash } from 'node:crypto'
import { existsSync, fstatSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  makeTemporaryDirectory,
  until,
  type TemporaryDirectory,
  rejection,
} from '@holdfast/testing'
import { expect } from 'chai'
import {
  createReceiver,
  makeDirectories,
  type Placement,
  putInPlace,
  createDirectorySync,
} from '../../../src/remote/get/receive-file.ts'

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
    ({ size, start: 0, etag: '"1"', body, bytes: () => bytesOf(body) }) as never
  const bytesOf = async (body: ReadableStream<Uint8Array>) =>
    new Uint8Array(await new Response(body as never).arrayBuffer())
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

  it('leaves the beginning of another command where its own file has been placed and replaced', async () => {
    const part = async () => join(directory.path, (await readdir(directory.path))[0] ?? '')
    const placement = placementOf('a', {
      async beforePlacing() {
        const from = await part()
        await rename(from, join(directory.path, 'a'))
        await writeFile(join(directory.path, 'later'), 'edited')
        await rename(join(directory.path, 'later'), join(directory.path, 'a'))
        await writeFile(from, 'beginn')
      },
    })
    const failure = await (
      await receive('whole', 5, placement)
    ).placed.catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'changed-meanwhile')
    const contents = await Promise.all(
      (await readdir(directory.path)).map((name) => readFile(join(directory.path, name), 'utf8')),
    )
    expect(contents).to.have.members(['beginn', 'edited'])
  })

  it('writes no more into a file that another command has placed', async () => {
    const size = 8 * 1024 ** 2
    const step = Promise.withResolvers<undefined>()
    const isRead = Promise.withResolvers<undefined>()
    let left = size
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new Uint8Array(size / 4).fill(120))
        left -= size / 4
        if (left === 0) controller.close()
        isRead.resolve(undefined)
        await step.promise
      },
    })
    const path = join(directory.path, 'a')
    const placement = placementOf('a', { isHashed: true })
    const slower = createReceiver().receive(downloadOf(slow, size), placement, noDisplay)
    await isRead.promise
    const faster = await receive('x'.repeat(size), size, placementOf('a'))
    await faster.placed
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(size, 'edited'), 0, size, 0)
    await file.close()
    step.resolve(undefined)
    const { sha256 } = await (await slower).placed
    expect(sha256).to.equal(createHash('sha256').update('x'.repeat(size)).digest('hex'))
    expect((await readFile(path)).equals(Buffer.alloc(size, 'edited'))).to.equal(true)
    expect(await readdir(directory.path)).to.deep.equal(['a'])
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

  it('takes 64 small files and a few more while the disk keeps the first waiting, also of empty ones', async () => {
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
    expect(begun.length).to.be.within(64, 80)
    disk.resolve(undefined)
    for (const each of begun) await (await each).placed
  }).timeout(60_000)
})

describe('putInPlace', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const place = () => join(directory.path, 'a')
  const begin = async (content: string) => {
    const from = join(directory.path, 'part')
    await writeFile(from, content)
    return { from, file: await open(from) }
  }

  it('replaces what is there', async () => {
    await writeFile(place(), 'old')
    const { from, file } = await begin('whole')
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
  })

  it('leaves the beginning of a third command where it is, if another one was quicker', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    await writeFile(from, 'beginn')
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
    expect(await readFile(from, 'utf8')).to.equal('beginn')
  })

  it('is content where another one was quicker', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
  })

  it('puts no beginning of a third command in place where its own file has been replaced', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    await writeFile(join(directory.path, 'later'), 'edited')
    await rename(join(directory.path, 'later'), place())
    await writeFile(from, 'beginn')
    expect(() => putInPlace(file.fd, from, place())).to.throw('has changed meanwhile')
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('edited')
    expect(await readFile(from, 'utf8')).to.equal('beginn')
  })
})

describe('createDirectorySync', () => {
  /** Syncs that end when the test says so. */
  const pending = () => {
    const ends: PromiseWithResolvers<undefined>[] = []
    const begun: (() => void)[] = []
    return {
      ends,
      sync: createDirectorySync('.', () => {
        const end = Promise.withResolvers<undefined>()
        ends.push(end)
        begun.shift()?.()
        return end.promise
      }),
      nextBegins: () => new Promise<void>((resolve) => begun.push(resolve)),
    }
  }

  it('has calls that come during a sync share the next one', async () => {
    const { ends, sync, nextBegins } = pending()
    const firstBegins = nextBegins()
    const first = sync()
    await firstBegins
    let isSecondDone = false
    const secondBegins = nextBegins()
    const later = [sync(), sync().then(() => (isSecondDone = true))]
    ends[0]?.resolve(undefined)
    await Promise.all([first, secondBegins])
    expect(isSecondDone).to.equal(false)
    ends[1]?.resolve(undefined)
    await Promise.all(later)
    expect(ends).to.have.length(2)
  })

  it('syncs once for calls that come together', async () => {
    const { ends, sync, nextBegins } = pending()
    const begins = nextBegins()
    const calls = [sync(), sync()]
    await begins
    ends[0]?.resolve(undefined)
    await Promise.all(calls)
    expect(ends).to.have.length(1)
  })

  it('fails for all after one sync has failed', async () => {
    const { ends, sync, nextBegins } = pending()
    const begins = nextBegins()
    const failed = [sync(), sync()]
    await begins
    failed.push(sync())
    const error = new Error('EIO')
    ends[0]?.reject(error)
    const errors = await Promise.all(failed.map((each) => rejection(each)))
    expect(errors).to.deep.equal([error, error, error])
    expect(await rejection(sync())).to.equal(error)
    expect(ends).to.have.length(1)
  })

  it('syncs a directory of the disk, and fails where there is none', async () => {
    await createDirectorySync(import.meta.dirname)()
    const none = createDirectorySync(`${import.meta.dirname}/none`)()
    expect(await rejection(none)).to.include({ code: 'ENOENT' })
  })
})

describe('makeDirectories', () => {
  it('makes what is missing, and syncs each directory that has got an entry', async () => {
    await using root = await makeTemporaryDirectory()
    const synced: string[] = []
    const make = (path: string) => makeDirectories(path, async (each) => void synced.push(each))
    await make(join(root.path, 'a/b/c'))
    expect(synced).to.deep.equal(['a/b', 'a', ''].map((path) => join(root.path, path)))
    await make(join(root.path, 'a/b/c'))
    expect(synced).to.have.length(3)
    await make(`${join(root.path, 'a/b/d')}/`)
    expect(synced.slice(3)).to.deep.equal([join(root.path, 'a/b')])
  })
})
