import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { collect } from '../../support/expectations.ts'
import { nastyNames } from '../../support/nasty-names.ts'
import { pattern } from '../../support/pattern.ts'
import { chunks } from '../../support/sources.ts'

const byUtf8 = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Who keeps blobs: every customer once, in the order of their names' UTF-8 bytes. */
export function customers(test: BlobStoreTest): void {
  test('lists no customers of an empty store', async ({ store }) => {
    expect(await collect(store.customers())).to.deep.equal([])
  })

  test('lists customers of any name, each once, in the order of their UTF-8 bytes', async ({
    store,
  }) => {
    for (const customer of nastyNames) {
      await store.put({ customer, name: 'one' }, chunks(pattern(1)))
    }
    for (const name of ['two', 'three', customerLikeName]) {
      await store.put({ customer: 'a', name }, chunks(pattern(1)))
    }
    expect(await collect(store.customers())).to.deep.equal([...nastyNames].sort(byUtf8))
  })

  test('lists 1100 customers', async ({ store }) => {
    const many = Array.from({ length: 1100 }, (_, index) => `c${String(index).padStart(4, '0')}`)
    for (let at = 0; at < many.length; at += 20) {
      const some = many.slice(at, at + 20)
      await Promise.all(
        some.map((customer) => store.put({ customer, name: 'n' }, chunks(pattern(1)))),
      )
    }
    expect(await collect(store.customers())).to.deep.equal(many)
  })

  test('shows a new customer to another opening', async ({ store, openAgain }) => {
    const other = await openAgain()
    await store.put({ customer: 'alice', name: 'one' }, chunks(pattern(1)))
    expect(await collect(other.customers())).to.deep.equal(['alice'])
  })

  test('lists a customer who keeps one of two blobs', async ({ store }) => {
    for (const name of ['one', 'two']) {
      await store.put({ customer: 'alice', name }, chunks(pattern(1)))
    }
    await store.delete({ customer: 'alice', name: 'one' })
    expect(await collect(store.customers())).to.deep.equal(['alice'])
  })
}

const customerLikeName = 'alice%2Fone'
