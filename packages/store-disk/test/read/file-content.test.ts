import { randomFillSync } from 'node:crypto'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { createFileContent, type ReadableFile } from '../../src/read/file-content.ts'

const size = 1_500_000
const range = { offset: 0, length: size }

/** `file`, and how it was read. */
function watched(file: ReadableFile) {
  const seen = { begun: 0, done: 0, doneAtClose: -1 }
  const read = file.read.bind(file)
  const close = file.close.bind(file)
  Object.assign(file, {
    read: async (...args: Parameters<ReadableFile['read']>) => {
      seen.begun++
      await nextTurn()
      const result = await read(...args)
      seen.done++
      return result
    },
    close: () => {
      seen.doneAtClose = seen.done
      return close()
    },
  })
  return seen
}

describe('createFileContent', () => {
  let place: TemporaryDirectory
  before(async () => {
    place = await makeTemporaryDirectory()
  })
  after(() => place[Symbol.asyncDispose]())

  const make = async (name: string) => {
    const content = randomFillSync(Buffer.alloc(size))
    const path = join(place.path, name)
    await writeFile(path, content)
    const handle = await open(path, 'r')
    const file: ReadableFile = {
      read: async (bytes, position) =>
        (await handle.read(bytes, 0, bytes.length, position)).bytesRead,
      close: () => handle.close(),
    }
    return { content, file }
  }

  it('reads one chunk ahead of the reader, and no more', async () => {
    const { file } = await make('ahead')
    const seen = watched(file)
    const { content, close } = createFileContent(file, range)
    await nextTurn()
    expect(seen.begun).to.equal(0)
    const iterator = content[Symbol.asyncIterator]()
    for (const asked of [1, 2, 3]) {
      await iterator.next()
      for (let turn = 0; turn < 10_000 && seen.done <= asked; turn++) await nextTurn()
      await nextTurn()
      expect(seen).to.include({ begun: asked + 1, done: asked + 1 })
    }
    await close()
  })

  it('closes the file when no read is under way any more', async () => {
    const { file } = await make('closed')
    const seen = watched(file)
    const { content, close } = createFileContent(file, range)
    await content[Symbol.asyncIterator]().next()
    expect(seen.begun - seen.done).to.equal(1)
    await close()
    expect(seen.doneAtClose).to.equal(seen.begun)
  })

  it('reads into two buffers in turn where it may reuse them', async () => {
    const { file, content: expected } = await make('in turn')
    const { content } = createFileContent(file, range, true)
    const buffers = new Set<ArrayBufferLike>()
    let position = 0
    for await (const chunk of content) {
      buffers.add(chunk.buffer)
      expect(expected.subarray(position, (position += chunk.length)).equals(chunk)).to.equal(true)
    }
    expect(position).to.equal(size)
    expect(buffers.size).to.equal(2)
  })

  it('gives no reader a buffer that another one has in use', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, (_, n) => make(`shared ${n}`)))
    const readers = made.map(async ({ file, content: expected }, n) => {
      const { content } = createFileContent(file, range, true)
      let position = 0
      for await (const chunk of content) {
        // Some leave, so that their buffers are lent again.
        if (n % 3 === 0 && position > 0) return
        for (let turn = 0; turn < n; turn++) await nextTurn()
        expect(expected.subarray(position, (position += chunk.length)).equals(chunk)).to.equal(true)
      }
      expect(position).to.equal(size)
    })
    await Promise.all(readers)
  })

  it('gives out nothing that is read when the file has been closed', async () => {
    const { file } = await make('late')
    const { content, close } = createFileContent(file, range, true)
    const iterator = content[Symbol.asyncIterator]()
    const failures = [iterator.next(), close().then(() => iterator.next())].map((reading) =>
      reading.then(
        () => 'a chunk',
        (error: unknown) => (error as NodeJS.ErrnoException).code,
      ),
    )
    const late = 'ERR_STREAM_PREMATURE_CLOSE'
    expect(await Promise.all(failures)).to.deep.equal([late, late])
  })
})
