import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { expectAbsent, expectBlob, names } from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { inChunks } from '../../support/sources.ts'

const separators = ['-', '_', '.', ':', '|', ',', ' ', '%', '%2F', '\\', '~', '\u2215']

/** No customer sees or touches another's blobs, however alike the names are. */
export function isolation(test: BlobStoreTest): void {
  test('keeps blobs of one name for two customers', async ({ store }) => {
    await store.put({ customer: 'alice', name: 'same' }, inChunks(pattern(1000, { seed: 1 })))
    await store.put({ customer: 'bob', name: 'same' }, inChunks(pattern(2000, { seed: 2 })))
    await expectBlob(store, { customer: 'alice', name: 'same' }, pattern(1000, { seed: 1 }))
    await expectBlob(store, { customer: 'bob', name: 'same' }, pattern(2000, { seed: 2 }))
  })

  test('deletes for one customer only', async ({ store }) => {
    for (const customer of ['alice', 'bob']) {
      await store.put({ customer, name: 'same' }, inChunks(pattern(1000)))
    }
    await store.delete({ customer: 'alice', name: 'same' })
    await expectAbsent(store, { customer: 'alice', name: 'same' })
    await expectBlob(store, { customer: 'bob', name: 'same' }, pattern(1000))
  })

  test('shows customer a nothing of customer ab, and the other way round', async ({ store }) => {
    await store.put({ customer: 'ab', name: 'c' }, inChunks(pattern(1000)))
    for (const name of ['c', 'bc', 'b']) await expectAbsent(store, { customer: 'a', name })
    expect(await store.usage('a')).to.deep.equal({ blobs: 0, bytes: 0 })
    await store.put({ customer: 'a', name: 'bc' }, inChunks(pattern(10)))
    expect(await names(store, 'a')).to.deep.equal(['bc'])
    expect(await names(store, 'ab')).to.deep.equal(['c'])
    expect(await store.delete({ customer: 'a', name: 'c' })).to.equal(false)
    await expectBlob(store, { customer: 'ab', name: 'c' }, pattern(1000))
  })

  test('shows a prefix, an after and a limit nothing of other customers', async ({ store }) => {
    for (const customer of ['a', 'ab', 'b']) {
      for (const name of ['b', 'bc', 'c']) {
        await store.put({ customer, name: `${name} of ${customer}` }, inChunks(pattern(1)))
      }
    }
    expect(await names(store, 'a', { prefix: 'b' })).to.deep.equal(['b of a', 'bc of a'])
    expect(await names(store, 'ab', { after: 'b of b' })).to.deep.equal(['bc of ab', 'c of ab'])
    expect(await names(store, 'a', { limit: 100 })).to.have.length(3)
  })

  for (const separator of separators) {
    test(`is not confused by ${JSON.stringify(separator)} in names of customers and blobs`, async ({
      store,
    }) => {
      const left = { customer: `a${separator}b`, name: 'c' }
      const right = { customer: 'a', name: `b${separator}c` }
      await store.put(left, inChunks(pattern(100, { seed: 1 })))
      await expectAbsent(store, right)
      await store.put(right, inChunks(pattern(100, { seed: 2 })))
      await expectBlob(store, left, pattern(100, { seed: 1 }))
      await expectBlob(store, right, pattern(100, { seed: 2 }))
      expect(await names(store, left.customer)).to.deep.equal(['c'])
      expect(await names(store, 'a')).to.deep.equal([right.name])
    })
  }
}
