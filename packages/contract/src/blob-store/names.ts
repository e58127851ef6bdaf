import { expect } from 'chai'
import { chunks, inChunks, pattern, failing, gated, generated } from '../support/content.ts'
import { expectAbsent, expectBlob, names, collect, rejection } from '../support/expectations.ts'
import { nastyNames } from '../support/nasty-names.ts'
import type { BlobStoreTest } from '../support/suite.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const byUtf8 = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Every name that the policy allows is distinct from all others, for blobs and for customers. */
export function naming(test: BlobStoreTest): void {
  for (const name of nastyNames) {
    test(`keeps a blob called ${JSON.stringify(name)} of a customer called the same`, async ({
      store,
    }) => {
      const key = { customer: name, name }
      const info = await store.put(key, chunks(encode('x')))
      expect(info.name).to.equal(name)
      await expectBlob(store, key, encode('x'))
      expect(await names(store, name)).to.deep.equal([name])
      expect(await store.usage(name)).to.deep.equal({ blobs: 1, bytes: 1 })
      expect(await store.delete(key)).to.equal(true)
      await expectAbsent(store, key)
    })
  }

  test('keeps names apart that differ in case, normalisation, dots, spaces or escapes', async ({
    store,
  }) => {
    const keys = nastyNames.map((name) => ({ customer: 'alice', name }))
    for (const key of keys) await store.put(key, chunks(encode(`content of ${key.name}`)))
    for (const key of keys) await expectContent(store, key, `content of ${key.name}`)
    expect(await names(store, 'alice')).to.deep.equal([...nastyNames].sort(byUtf8))
  })

  test('keeps customers apart that differ in case, normalisation, dots, spaces or escapes', async ({
    store,
  }) => {
    const keys = nastyNames.map((customer) => ({ customer, name: 'same' }))
    for (const key of keys) await store.put(key, chunks(encode(`content of ${key.customer}`)))
    for (const key of keys) {
      await expectContent(store, key, `content of ${key.customer}`)
      expect(await names(store, key.customer)).to.deep.equal(['same'])
    }
  })

  test('finds no twin of a name where only the other is stored', async ({ store }) => {
    const twins = [
      ['readme', 'README'],
      ['caf\u00e9', 'cafe\u0301'],
      ['%41', 'A'],
      ['a', 'a '],
      ['a', 'a.'],
      ['a%2Fb', 'a%2fb'],
      ['a\\b', 'b'],
      ['*', 'a'],
    ] as const
    for (const [index, [stored, asked]] of twins.entries()) {
      const customer = `customer ${index}`
      await store.put({ customer, name: stored }, chunks(encode('x')))
      await expectAbsent(store, { customer, name: asked })
      expect(await store.delete({ customer, name: asked }), 'delete').to.equal(false)
      await expectBlob(store, { customer, name: stored }, encode('x'))
    }
  })
}

async function expectContent(
  store: Parameters<typeof expectBlob>[0],
  key: Parameters<typeof expectBlob>[1],
  text: string,
): Promise<void> {
  await expectBlob(store, key, encode(text))
}

const key = { customer: 'alice', name: 'report.pdf' }
const strangers = ['nobody', '__proto__', 'constructor', 'alic', 'alice ', 'ALICE', '~', '*', '%']

/** Absence is reported as `undefined`, `false`, nothing or zero, never as an error. */
export function absence(test: BlobStoreTest): void {
  test('has no blob in an empty store', async ({ store }) => {
    await expectAbsent(store, key)
  })

  test('has no blob for a range either', async ({ store }) => {
    expect(await store.open(key, { range: { first: 0 } })).to.equal(undefined)
    expect(await store.open(key, { range: { suffixLength: 1 } })).to.equal(undefined)
  })

  test('deletes nothing where there is nothing', async ({ store }) => {
    expect(await store.delete(key), 'of an unknown customer').to.equal(false)
    await store.put({ ...key, name: 'other' }, inChunks(pattern(10)))
    expect(await store.delete(key), 'of a known customer').to.equal(false)
    await expectBlob(store, { ...key, name: 'other' }, pattern(10))
  })

  test('deletes a blob once', async ({ store }) => {
    await store.put(key, inChunks(pattern(10)))
    expect(await store.delete(key), 'first').to.equal(true)
    expect(await store.delete(key), 'second').to.equal(false)
    await expectAbsent(store, key)
  })

  test('deletes a blob once, however many deletes come at once', async ({ store }) => {
    for (let round = 0; round < 5; round++) {
      await store.put(key, inChunks(pattern(10)))
      const answers = await Promise.all(Array.from({ length: 5 }, () => store.delete(key)))
      expect(answers.filter(Boolean), 'deletes that found it').to.have.length(1)
      await expectAbsent(store, key)
    }
  })

  test('has deleted a blob after deletes at once through two openings', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await store.put(key, inChunks(pattern(10)))
    const answers = await Promise.all([store.delete(key), other.delete(key)])
    expect(answers, 'the answers').to.include(true)
    await expectAbsent(store, key)
  })

  test('knows nothing of a customer whose last blob is deleted, until the next put', async ({
    store,
  }) => {
    await store.put(key, inChunks(pattern(10)))
    await store.delete(key)
    expect(await names(store, 'alice')).to.deep.equal([])
    expect(await store.usage('alice')).to.deep.equal({ blobs: 0, bytes: 0 })
    await store.put(key, inChunks(pattern(20)))
    await expectBlob(store, key, pattern(20))
  })

  test('stores under a name while its blob is deleted over and over', async ({ store }) => {
    for (let round = 0; round < 20; round++) {
      await Promise.all([store.put(key, inChunks(pattern(10))), store.delete(key)])
    }
    await store.put(key, inChunks(pattern(20)))
    await expectBlob(store, key, pattern(20))
  })

  for (const customer of strangers) {
    test(`knows nothing of a customer ${JSON.stringify(customer)} without blobs`, async ({
      store,
    }) => {
      await store.put(key, inChunks(pattern(10)))
      await expectAbsent(store, { ...key, customer })
      expect(await store.delete({ ...key, customer }), 'delete').to.equal(false)
      expect(await names(store, customer), 'list').to.deep.equal([])
      expect(await store.usage(customer), 'usage').to.deep.equal({ blobs: 0, bytes: 0 })
    })
  }

  for (const name of ['report', 'report.pdf2', 'port.pdf', 'REPORT.PDF', '__proto__', 'toString']) {
    test(`has no blob ${JSON.stringify(name)} beside report.pdf`, async ({ store }) => {
      await store.put(key, inChunks(pattern(10)))
      await expectAbsent(store, { ...key, name })
    })
  }
}

/** Lists every customer who has blobs once, in the order of the names' UTF-8 bytes. */
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

const separators = ['-', '_', '.', ':', '|', ',', ' ', '%', '%2F', '\\', '~', '\u2215']

/** No customer can see or change another's blobs, however similar the names are. */
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

/** Counts a customer's published blobs with their current sizes, and nothing else. */
export function usage(test: BlobStoreTest): void {
  test('counts blobs and their bytes', async ({ store }) => {
    for (const size of [0, 1, 1000, 70_000]) {
      await store.put({ ...key, name: `${size}` }, generated(size))
    }
    expect(await store.usage('alice')).to.deep.equal({ blobs: 4, bytes: 71_001 })
  })

  test('counts an empty blob', async ({ store }) => {
    await store.put(key, chunks())
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 0 })
  })

  test('counts a replaced blob by its new size', async ({ store }) => {
    await store.put(key, generated(1000))
    await store.put(key, generated(10))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 10 })
  })

  test('no longer counts a deleted blob', async ({ store }) => {
    await store.put(key, generated(1000))
    await store.put({ ...key, name: 'other' }, generated(10))
    await store.delete(key)
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 10 })
  })

  test('does not count what is under way or has failed', async ({ store }) => {
    await store.put(key, generated(1000))
    const { content, stalled, release } = gated(pattern(200_000))
    const put = store.put({ ...key, name: 'pending' }, content)
    await stalled
    const failed = failing(pattern(300_000), new Error('the content failed'))
    await rejection(store.put({ ...key, name: 'failed' }, failed))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 1000 })
    release()
    await put
    expect(await store.usage('alice')).to.deep.equal({ blobs: 2, bytes: 201_000 })
  })

  test('counts each customer alone', async ({ store }) => {
    for (const customer of ['a', 'ab', 'A', 'b']) {
      await store.put({ customer, name: 'same' }, inChunks(pattern(customer.length * 100)))
    }
    expect(await store.usage('a')).to.deep.equal({ blobs: 1, bytes: 100 })
    expect(await store.usage('ab')).to.deep.equal({ blobs: 1, bytes: 200 })
  })
}
