import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import {
  collect,
  details,
  expectAbsent,
  expectBlob,
  expectRefusal,
  expectTidy,
  names,
} from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { generated, inChunks, MiB, recorded } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }

/** A store that is full says so, closes the content, keeps what it has and goes on. */
export function fullStore(test: BlobStoreTest): void {
  test('refuses what does not fit and leaves nothing of it', async (harness) => {
    const content = recorded(generated(64 * MiB))
    await expectRefusal(harness.store.put(key, content), 'insufficient-storage')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectTidy(harness)
    await expectAbsent(harness.store, key)
  })

  test('keeps the earlier blob of what does not fit, and stores what does', async ({ store }) => {
    const info = await store.put(key, inChunks(pattern(1000)))
    await expectRefusal(store.put(key, generated(64 * MiB)), 'insufficient-storage')
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, pattern(1000))
    await store.put(key, inChunks(pattern(2000)))
    await expectBlob(store, key, pattern(2000))
  })
}

/** A store that cannot be reached says so in every method, and never takes that for absence. */
export function unreachableStore(test: BlobStoreTest): void {
  test('refuses a put and closes its content', async ({ store }) => {
    const content = recorded(generated(6 * MiB))
    await expectRefusal(store.put(key, content), 'store-unavailable')
    expect(content.isClosed(), 'content is closed').to.equal(true)
  })

  test('refuses to say what is there', async ({ store }) => {
    await expectRefusal(store.stat(key), 'store-unavailable', 'stat')
    await expectRefusal(store.open(key), 'store-unavailable', 'open')
    await expectRefusal(store.delete(key), 'store-unavailable', 'delete')
    await expectRefusal(names(store, 'alice'), 'store-unavailable', 'list')
    await expectRefusal(details(store, 'alice'), 'store-unavailable', 'listDetails')
    await expectRefusal(store.usage('alice'), 'store-unavailable', 'usage')
    await expectRefusal(collect(store.customers()), 'store-unavailable', 'customers')
  })
}
