import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createQuotaKeeper } from '../../src/policy/quota-keeper.ts'
import {
  serveFile,
  statFile,
  listFileDetails,
  listFiles,
  deleteFile,
} from '../../src/use-cases/stored-files.ts'
import { chunks, textOf, arrayOf } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'

const alice = { name: 'alice' }

async function storeWithFile() {
  const store = createMemoryBlobStore()
  const info = await store.put({ customer: 'alice', name: 'a' }, chunks('0123456789'))
  return { store, info }
}

describe('serveFile', () => {
  it('opens the whole file', async () => {
    const { store, info } = await storeWithFile()
    const file = await serveFile(store, alice, 'a')
    expect(file.info).to.deep.equal(info)
    expect(file.range).to.deep.equal({ offset: 0, length: 10 })
    expect(await textOf(file.content)).to.equal('0123456789')
  })

  it('opens the range asked for', async () => {
    const { store } = await storeWithFile()
    const file = await serveFile(store, alice, 'a', { range: { first: 2, last: 4 } })
    expect(file.range).to.deep.equal({ offset: 2, length: 3 })
    expect(await textOf(file.content)).to.equal('234')
  })

  it('opens without a range when none can be had', async () => {
    const { store, info } = await storeWithFile()
    const file = await serveFile(store, alice, 'a', { range: { first: 10 } })
    expect(file.info).to.deep.equal(info)
    expect(file.range).to.equal(undefined)
    expect(await textOf(file.content)).to.equal('')
  })

  it('finds only files of the customer', async () => {
    const { store } = await storeWithFile()
    for (const [customer, name] of [
      ['alice', 'b'],
      ['bob', 'a'],
    ] as const) {
      const error = await rejection(serveFile(store, { name: customer }, name))
      expect(error).to.include({ code: 'not-found', message: 'File not found' })
    }
  })

  it('refuses a bad name without asking the store', async () => {
    const { store } = await storeWithFile()
    const unasked = { ...store, open: () => Promise.reject(new Error('asked')) }
    expect(await refusal(serveFile(unasked, alice, '../a'))).to.equal('invalid-file-name')
  })
})

describe('statFile', () => {
  it('says what is known of the file without opening it', async () => {
    const { store, info } = await storeWithFile()
    const unopened = { ...store, open: () => Promise.reject(new Error('opened')) }
    expect(await statFile(unopened, alice, 'a')).to.deep.equal(info)
  })

  it('finds only files of the customer', async () => {
    const { store } = await storeWithFile()
    const error = await rejection(statFile(store, alice, 'b'))
    expect(error).to.include({ code: 'not-found', message: 'File not found' })
    expect(await refusal(statFile(store, { name: 'bob' }, 'a'))).to.equal('not-found')
  })

  it('refuses a bad name without asking the store', async () => {
    const { store } = await storeWithFile()
    const unasked = { ...store, stat: () => Promise.reject(new Error('asked')) }
    expect(await refusal(statFile(unasked, alice, ''))).to.equal('invalid-file-name')
  })
})

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

/** The customer whose quota the two files of {@link fullStore} use up. */
const limited = { name: 'alice', quota: 100 }

async function fullStore() {
  const store = createMemoryBlobStore()
  for (const name of ['a', 'b']) await store.put({ customer: 'alice', name }, chunks(50))
  return { store, quotas: createQuotaKeeper(store), keeps: () => false }
}

describe('deleteFile', () => {
  it('deletes the file, and no other', async () => {
    const policy = await fullStore()
    const { store } = policy
    await deleteFile(policy, limited, 'a')
    expect(await arrayOf(store.list('alice'))).to.deep.equal([['b']])
  })

  it('finds only files of the customer, once', async () => {
    const policy = await fullStore()
    const { store } = policy
    await deleteFile(policy, limited, 'a')
    const error = await rejection(deleteFile(policy, limited, 'a'))
    expect(error).to.include({ code: 'not-found', message: 'File not found' })
    expect(await refusal(deleteFile(policy, { name: 'bob' }, 'b'))).to.equal('not-found')
    expect(await arrayOf(store.list('alice'))).to.deep.equal([['b']])
  })

  it('frees the bytes for uploads under way', async () => {
    const policy = await fullStore()
    const { quotas } = policy
    const claim = await quotas.claim(limited, 'c')
    expect(() => claim.grow(1)).to.throw()
    await deleteFile(policy, limited, 'a')
    void claim.grow(50)
    claim.end()
  })

  it('refuses a bad name without asking the store', async () => {
    const policy = await fullStore()
    const { store } = policy
    const unasked = { ...store, delete: () => Promise.reject(new Error('asked')) }
    const refused = deleteFile({ ...policy, store: unasked }, limited, '..')
    expect(await refusal(refused)).to.equal('invalid-file-name')
  })
})
