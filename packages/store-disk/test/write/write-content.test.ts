import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { pooledCalls } from '../../src/files/file-calls.ts'
import { writeContent } from '../../src/write/file-writer.ts'
import { interceptFileCalls, replaceSync } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

const MiB = 1024 ** 2

/** Counts the calls that are under way, and those that have begun. */
async function watch(method: string) {
  const calls = { begun: 0, underWay: 0, most: 0 }
  const interception = await interceptFileCalls({
    before({ name }) {
      if (name !== method) return
      calls.begun++
      calls.most = Math.max(calls.most, ++calls.underWay)
    },
    after({ name }) {
      if (name === method) calls.underWay--
    },
  })
  return Object.assign(calls, interception)
}

async function* chunksOf(size: number, length = MiB) {
  const chunk = Buffer.alloc(length, 'holdfast')
  for (let left = size; left > 0; left -= length) yield chunk.subarray(0, Math.min(left, length))
}

async function inFile<T>(work: (file: number, path: string) => Promise<T>) {
  await using place = await makeTemporaryDirectory()
  const path = join(place.path, 'file')
  await using file = await open(path, 'w')
  return await work(file.fd, path)
}

/** Lengths around those of buffers, in an order that is the same each time. */
function* lengths() {
  const around = [1, 100, 65_535, 65_536, 65_537, 300_000, 524_287, 524_288, 524_289, 2_000_000]
  for (let at = 0; at < 60; at++) yield around[(at * 7 + (at >> 2)) % around.length] ?? 0
}

describe('writeContent', () => {
  it('writes what comes in chunks of any size, in order, though each is gone when it is released', async () => {
    await inFile(async (file, path) => {
      const sent: Buffer[] = []
      async function* content() {
        for (const [at, length] of [...lengths()].entries()) {
          const chunk = Buffer.alloc(length, `${at} `)
          sent.push(Buffer.from(chunk))
          yield chunk
        }
      }
      await writeContent(file, content(), pooledCalls, (chunk) => chunk.fill(0))
      expect(Buffer.concat(sent).equals(await readFile(path))).to.equal(true)
    })
  })

  it('takes more while it writes, but writes one after the other', async () => {
    using writes = await watch('write')
    await inFile(async (file) => {
      let taken = 0
      async function* content() {
        for await (const chunk of chunksOf(8 * MiB, 64 * 1024)) {
          if (writes.underWay > 0) taken++
          yield chunk
        }
      }
      await writeContent(file, content(), pooledCalls)
      expect(taken).to.be.above(0)
      expect(writes).to.deep.include({ most: 1, underWay: 0 })
    })
  })

  it('writes a hundred at once, and more whole than there are buffers for', async () => {
    await inFile(async (_, path) => {
      const size = 2 * MiB
      const write = async (at: number) => {
        await using file = await open(`${path}-${at}`, 'w')
        await writeContent(file.fd, chunksOf(size, 60_000), pooledCalls)
        return await readFile(`${path}-${at}`)
      }
      const expected = Buffer.alloc(size, Buffer.alloc(60_000, 'holdfast'))
      const written = await Promise.all(Array.from({ length: 100 }, (_, at) => write(at)))
      for (const content of written) expect(content.equals(expected)).to.equal(true)
    })
  })

  for (const [title, size] of [
    ['in the middle', 10 * MiB],
    ['at the end', 600_000],
  ] as const) {
    it(`fails with a write that fails ${title}`, async () => {
      await inFile(async (file) => {
        let writes = 0
        using _ = await interceptFileCalls({
          before({ name }) {
            if (name === 'write' && ++writes === 2) throw systemError('EIO', name)
          },
        })
        const error = await writeContent(file, chunksOf(size, 60_000), pooledCalls).catch(
          (error: unknown) => error,
        )
        expect(error).to.have.property('code', 'EIO')
        expect(writes).to.equal(2)
      })
    })
  }

  it('syncs a large content now and then while it comes, once at a time', async () => {
    using syncs = await watch('datasync')
    await inFile((file) => writeContent(file, chunksOf(160 * MiB), pooledCalls))
    expect(syncs.begun).to.be.within(1, 5)
    expect(syncs).to.deep.include({ most: 1, underWay: 0 })
  })

  it('syncs neither a small content early, nor several large ones that come at once', async () => {
    using syncs = await watch('datasync')
    await inFile((file) => writeContent(file, chunksOf(31 * MiB), pooledCalls))
    await inFile((one) =>
      inFile(async (other) => {
        const write = (file: number) =>
          writeContent(file, chunksOf(48 * MiB, 64 * 1024), pooledCalls)
        await Promise.all([write(one), write(other)])
      }),
    )
    expect(syncs.begun).to.equal(0)
  })

  it('fails with an early sync that fails, and begins no other one', async () => {
    let syncs = 0
    using _ = replaceSync('fdatasync', () => {
      syncs++
      throw systemError('ENOSPC', 'fdatasync')
    })
    await inFile(async (file) => {
      const error = await writeContent(file, chunksOf(160 * MiB), pooledCalls).catch(
        (error: unknown) => error,
      )
      expect(error).to.have.property('code', 'insufficient-storage')
    })
    expect(syncs).to.equal(1)
  })

  it('leaves nothing under way where the content fails', async () => {
    const gate = Promise.withResolvers<undefined>()
    const syncs = { begun: 0, ended: 0 }
    using _ = replaceSync('fdatasync', async () => {
      syncs.begun++
      await gate.promise
      syncs.ended++
    })
    using writes = await watch('write')
    await inFile(async (file) => {
      async function* content() {
        yield* chunksOf(40 * MiB, 64 * 1024)
        setImmediate(() => gate.resolve(undefined))
        throw new Error('broken off')
      }
      const error = await writeContent(file, content(), pooledCalls).catch(
        (error: unknown) => error,
      )
      expect(error).to.have.property('message', 'broken off')
      expect(syncs).to.deep.equal({ begun: 1, ended: 1 })
      expect(writes.underWay).to.equal(0)
    })
  })

  it('makes no new buffer for a small content after another one', async () => {
    const allocate = Buffer.allocUnsafeSlow.bind(Buffer)
    await inFile(async (file) => {
      await writeContent(file, chunksOf(100, 100), pooledCalls)
      let made = 0
      Buffer.allocUnsafeSlow = (size) => {
        made++
        return allocate(size)
      }
      try {
        for (let n = 0; n < 5; n++) await writeContent(file, chunksOf(100, 100), pooledCalls)
      } finally {
        Buffer.allocUnsafeSlow = allocate
      }
      expect(made).to.equal(0)
    })
  })
})
