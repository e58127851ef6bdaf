import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { expectAbsent, expectBlob, names } from '../../support/expectations.ts'
import { nastyNames } from '../../support/nasty-names.ts'
import { chunks } from '../../support/sources.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const byUtf8 = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Every name that the policy allows is a name of its own, for blobs and for customers. */
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
