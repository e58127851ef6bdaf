import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { listFileDetails, listFiles } from '../../src/use-cases/list-files.ts'
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
    expect(await arrayOf(listFiles(store, alice))).to.deep.equal([['a', 'b1', 'b2', 'b3', 'c']])
    expect(await arrayOf(listFiles(store, { name: 'bob' }))).to.deep.equal([])
  })

  it('lists what is asked for', async () => {
    const store = await storeWithFiles()
    const listed = listFiles(store, alice, { prefix: 'b', after: 'b1', limit: 1 })
    expect(await arrayOf(listed)).to.deep.equal([['b2']])
  })
})

describe('listFileDetails', () => {
  it('lists what is known of the files, in order', async () => {
    const store = await storeWithFiles()
    const [page] = await arrayOf(listFileDetails(store, alice, { prefix: 'b', after: 'b1' }))
    const stats = ['b2', 'b3'].map((name) => store.stat({ customer: 'alice', name }))
    expect(page).to.deep.equal(await Promise.all(stats))
    expect(await arrayOf(listFileDetails(store, { name: 'bob' }))).to.deep.equal([])
  })
})

for (const [title, list] of [
  ['listFiles', listFiles],
  ['listFileDetails', listFileDetails],
] as const) {
  describe(`${title} with a limit`, () => {
    for (const limit of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      it(`throws a RangeError for a limit of ${limit}, before anything is listed`, async () => {
        const store = await storeWithFiles()
        expect(() => list(store, alice, { limit })).to.throw(
          RangeError,
          `limit must be an integer of 1 or more, not ${limit}`,
        )
      })
    }

    it('takes any whole number from 1 as a limit', async () => {
      const store = await storeWithFiles()
      for (const limit of [1, 2, 5, 6, Number.MAX_SAFE_INTEGER]) {
        const pages: (readonly unknown[])[] = await arrayOf<readonly unknown[]>(
          list(store, alice, { limit }),
        )
        expect(pages.flat()).to.have.length(Math.min(limit, 5))
      }
    })
  })
}
