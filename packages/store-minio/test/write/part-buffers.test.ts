import { expect } from 'chai'
import {
  createBufferBudget,
  createPartBuffers,
  maxPartMemory,
  partSize,
} from '../../src/write/parts.ts'

const MiB = 1024 * 1024

async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  const early = await Promise.race([
    promise.then(() => 'has it'),
    new Promise((resolve) => setTimeout(resolve, 20, 'waits')),
  ])
  return early === 'waits'
}

describe('createPartBuffers', () => {
  it('gives an upload as many buffers as its limit holds', async () => {
    const buffers = createPartBuffers(createBufferBudget(100 * MiB), 3 * MiB)
    const taken = [await buffers.take(MiB), await buffers.take(MiB), await buffers.take(MiB)]
    const fourth = buffers.take(MiB)
    expect(await isWaiting(fourth)).to.equal(true)
    buffers.give(taken[0]!)
    expect((await fourth).length).to.equal(MiB)
  })

  it('gives each upload one buffer, however many there are, and more within the budget', async () => {
    const budget = createBufferBudget(3 * MiB)
    const uploads = Array.from({ length: 5 }, () => createPartBuffers(budget, 4 * MiB))
    for (const upload of uploads) expect((await upload.take(MiB)).length).to.equal(MiB)
    for (const upload of uploads) expect(await isWaiting(upload.take(MiB))).to.equal(true)
  })

  it('gives no buffer to two at a time', async () => {
    const budget = createBufferBudget(100 * MiB)
    const [a, b] = [createPartBuffers(budget, 9 * MiB), createPartBuffers(budget, 9 * MiB)]
    const first = await a.take(MiB)
    a.give(first)
    const taken = [await a.take(MiB), await a.take(MiB), await b.take(MiB), await b.take(MiB)]
    expect(new Set(taken).size).to.equal(4)
    expect(taken, 'one used before').to.include(first)
  })

  it('never gives a buffer of another size than asked for', async () => {
    const buffers = createPartBuffers(createBufferBudget(100 * MiB), 48 * MiB)
    buffers.give(await buffers.take(8 * MiB))
    expect((await buffers.take(24 * MiB)).length).to.equal(24 * MiB)
  })
})

describe('partSize', () => {
  it('lets a file have 200 GiB, of parts of which two fit into the memory of an upload', () => {
    let size = 0
    for (let number = 1; number <= 10_000; number++) {
      expect(partSize(number)).to.be.within(5 * MiB, maxPartMemory / 2)
      size += partSize(number)
    }
    expect(size).to.be.greaterThan(200 * 1024 * MiB)
  })

  it('is 8 MiB for files of common sizes', () => {
    expect([partSize(1), partSize(500)]).to.deep.equal([8 * MiB, 8 * MiB])
  })

  it('refuses more parts than S3 takes', () => {
    expect(() => partSize(10_001))
      .to.throw()
      .with.property('code', 'file-too-large')
  })
})
