import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import {
  gatherParts,
  type Part,
  createBufferBudget,
  createPartBuffers,
} from '../../src/write/parts.ts'

const MiB = 1024 * 1024

function prepare(limit = 32 * MiB) {
  let held = 0
  const buffers = createPartBuffers(createBufferBudget(limit), limit)
  return {
    held: () => held,
    buffers: {
      take: async (size: number) => {
        const buffer = await buffers.take(size)
        held += size
        return buffer
      },
      give: (buffer: Buffer) => {
        held -= buffer.length
        buffers.give(buffer)
      },
    },
  }
}

async function* content(size: number, chunkSize: number) {
  for (let offset = 0; offset < size; offset += chunkSize) {
    const length = Math.min(chunkSize, size - offset)
    yield Uint8Array.from({ length }, (_, index) => ((offset + index) * 31) % 251)
  }
}

async function gather(parts: AsyncIterable<Part>) {
  const found: { number: number; isLast: boolean; bytes: Buffer }[] = []
  for await (const { number, isLast, bytes, release } of parts) {
    found.push({ number, isLast, bytes: Buffer.from(bytes) })
    release()
  }
  return found
}

async function bytesOf(size: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content(size, size || 1)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('gatherParts', () => {
  for (const [size, sizes] of [
    [0, [0]],
    [1, [1]],
    [2 * MiB - 1, [2 * MiB - 1]],
    [2 * MiB, [2 * MiB]],
    [2 * MiB + 1, [2 * MiB, 1]],
    [5 * MiB, [2 * MiB, 2 * MiB, MiB]],
    [6 * MiB, [2 * MiB, 2 * MiB, 2 * MiB]],
  ] as const) {
    for (const chunkSize of [65_536, 100_003, 3 * MiB]) {
      it(`cuts ${size} bytes in chunks of ${chunkSize} into parts of ${sizes.join(', ')}`, async () => {
        const { buffers, held } = prepare()
        const parts = await gather(gatherParts(content(size, chunkSize), buffers, () => 2 * MiB))
        expect(parts.map(({ bytes }) => bytes.length)).to.deep.equal(sizes)
        expect(parts.map(({ number }) => number)).to.deep.equal(sizes.map((_, index) => index + 1))
        expect(parts.map(({ isLast }) => isLast)).to.deep.equal(
          sizes.map((_, index) => index === sizes.length - 1),
        )
        expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(await bytesOf(size))).to.equal(
          true,
        )
        expect(held(), 'bytes held').to.equal(0)
      })
    }
  }

  it('knows the CRC-32 of each part', async () => {
    const { buffers } = prepare()
    for await (const part of gatherParts(content(5 * MiB, 100_003), buffers, () => 2 * MiB)) {
      expect(part.crc32).to.equal(crc32(part.bytes))
      part.release()
    }
  })

  it('releases every chunk as soon as it is copied', async () => {
    const { buffers } = prepare()
    let given = 0
    let released = 0
    async function* watched() {
      for await (const chunk of content(5 * MiB, 65_536)) {
        expect(released, 'released before the next was asked for').to.equal(given)
        given++
        yield chunk
      }
    }
    const release = (chunk: Uint8Array) => {
      released++
      chunk.fill(0)
    }
    const parts = await gather(gatherParts(watched(), buffers, () => 2 * MiB, release))
    expect(released).to.equal(80)
    const found = Buffer.concat(parts.map(({ bytes }) => bytes))
    expect(found.equals(await bytesOf(5 * MiB))).to.equal(true)
  })

  it('takes no buffer of a whole part for a small file', async () => {
    const { buffers, held } = prepare()
    const parts = gatherParts(content(MiB, 65_536), buffers, () => 8 * MiB)
    const { value: part } = await parts.next()
    expect(part?.bytes.length).to.equal(MiB)
    expect(held()).to.equal(0)
    await parts.return(undefined)
  })

  it('waits for a buffer when those of its upload are all on their way', async () => {
    const { buffers } = prepare(4 * MiB)
    const parts = gatherParts(content(7 * MiB, 65_536), buffers, () => 2 * MiB)
    const [first, second] = [await parts.next(), await parts.next()]
    const third = parts.next()
    const early = await Promise.race([
      third,
      new Promise((resolve) => setTimeout(resolve, 50, 'waits')),
    ])
    expect(early).to.equal('waits')
    first.value?.release()
    const next = await third
    expect(next.value?.number).to.equal(3)
    second.value?.release()
    next.value?.release()
    await parts.return(undefined)
  })

  it('gives its buffers back when the content fails', async () => {
    const { buffers, held } = prepare()
    const failure = new Error('the content failed')
    async function* failing() {
      yield* content(3 * MiB, 65_536)
      throw failure
    }
    const error = await gather(gatherParts(failing(), buffers, () => 2 * MiB)).catch(
      (reason: unknown) => reason,
    )
    expect(error).to.equal(failure)
    expect(held(), 'bytes held').to.equal(0)
  })

  it('gives its buffers back when it is stopped, and closes the content', async () => {
    const { buffers, held } = prepare()
    let isClosed = false
    async function* endless() {
      try {
        for (;;) yield* content(MiB, 65_536)
      } finally {
        isClosed = true
      }
    }
    for await (const part of gatherParts(endless(), buffers, () => 2 * MiB)) {
      part.release()
      if (part.number === 2) break
    }
    expect(isClosed).to.equal(true)
    expect(held(), 'bytes held').to.equal(0)
  })

  it('fails with what the size of a part is refused with', async () => {
    const { buffers, held } = prepare()
    const refusal = new Error('too many parts')
    const sizeOf = (number: number) => {
      if (number > 2) throw refusal
      return 2 * MiB
    }
    expect((await gather(gatherParts(content(4 * MiB, 65_536), buffers, sizeOf))).length).to.equal(
      2,
    )
    const error = await gather(gatherParts(content(4 * MiB + 1, 65_536), buffers, sizeOf)).catch(
      (reason: unknown) => reason,
    )
    expect(error).to.equal(refusal)
    expect(held(), 'bytes held').to.equal(0)
  })
})
