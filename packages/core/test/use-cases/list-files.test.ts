import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { listFiles } from '../../src/use-cases/list-files.ts'
import { arrayOf, chunks } from '../content.ts'

const alice = { name: 'alice' }

async function storeWithFiles() {
  const store = createMemoryBlobStore()
  for (const name of ['b1', 'a', 'c', 'b2', 'b3']) {
    await store.put({ customer: 'alice', name }, chunks())
  }
  return store
}

describe('listFiles', () => {
  it('lists the names of the customer in order', async () => {
    const store = await storeWithFiles()
    expect(await arrayOf(listFiles(store, alice))).to.deep.equal(['a', 'b1', 'b2', 'b3', 'c'])
    expect(await arrayOf(listFiles(store, { name: 'bob' }))).to.deep.equal([])
  })

  it('lists what is asked for', async () => {
    const store = await storeWithFiles()
    const listed = listFiles(store, alice, { prefix: 'b', after: 'b1', limit: 1 })
    expect(await arrayOf(listed)).to.deep.equal(['b2'])
  })

  for (const limit of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
    it(`throws a RangeError for a limit of ${limit}, before anything is listed`, async () => {
      const store = await storeWithFiles()
      expect(() => listFiles(store, alice, { limit })).to.throw(
        RangeError,
        `limit must be an integer of 1 or more, not ${limit}`,
      )
    })
  }

  it('takes any whole number from 1 as a limit', async () => {
    const store = await storeWithFiles()
    for (const limit of [1, 2, 5, 6, Number.MAX_SAFE_INTEGER]) {
      const names = await arrayOf(listFiles(store, alice, { limit }))
      expect(names).to.have.length(Math.min(limit, 5))
    }
  })
})
