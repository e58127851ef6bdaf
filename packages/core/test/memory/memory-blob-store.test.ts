import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { chunks, textOf } from '../content.ts'

const key = { customer: 'alice', name: 'a' }

describe('createMemoryBlobStore', () => {
  it('dates blobs by the clock it is given', async () => {
    const date = new Date('2026-01-02T03:04:05Z')
    const store = createMemoryBlobStore(() => date)
    expect((await store.put(key, chunks('x'))).modifiedAt).to.equal(date)
    expect((await store.stat(key))?.modifiedAt).to.equal(date)
  })

  it('dates blobs by the clock on the wall otherwise', async () => {
    const before = Date.now()
    const { modifiedAt } = await createMemoryBlobStore().put(key, chunks('x'))
    expect(modifiedAt.getTime()).to.be.within(before, Date.now())
  })

  it('is another store each time', async () => {
    await createMemoryBlobStore().put(key, chunks('x'))
    expect(await createMemoryBlobStore().stat(key)).to.equal(undefined)
  })

  it('keeps its bytes when the writer goes on to use its buffer', async () => {
    const store = createMemoryBlobStore()
    const buffer = new Uint8Array(Buffer.from('abc'))
    async function* content() {
      yield buffer
    }
    await store.put(key, content())
    buffer.fill(0)
    expect(await textOf((await store.open(key))!.content)).to.equal('abc')
  })

  it('keeps its bytes when a reader writes into what it was given', async () => {
    const store = createMemoryBlobStore()
    await store.put(key, chunks('abc'))
    for await (const chunk of (await store.open(key))!.content) chunk.fill(0)
    expect(await textOf((await store.open(key))!.content)).to.equal('abc')
  })
})
