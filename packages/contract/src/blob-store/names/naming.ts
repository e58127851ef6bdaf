import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/suite.ts'
import { expectAbsent, expectBlob, names } from '../../support/expectations.ts'
import { nastyNames } from '../../support/nasty-names.ts'
import { chunks, inChunks } from '../../support/sources.ts'
import { pattern } from '../../support/pattern.ts'

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
