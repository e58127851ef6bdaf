import { expect } from 'chai'
import {
  collect,
  details,
  expectAbsent,
  expectBlob,
  expectTidy,
  names,
} from '../support/expectations.ts'
import { pattern, inChunks, MiB } from '../support/content.ts'
import {
  alice,
  begin,
  expectBytes,
  hourMs,
  key,
  listedIds,
  planOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'

const old = pattern(1000, { seed: 7 })

/** Unfinished uploads and blobs do not affect each other. */
export function apartFromBlobs(test: ResumableTest): void {
  blobs(test)
  lists(test)
  discarding(test)
}

function blobs(test: ResumableTest): void {
  test('is no blob, and not counted as one', async ({ uploads, store, openAgain }) => {
    const upload = await begin(uploads, { length: 9 * MiB })
    await uploads.append(upload, 0, inChunks(pattern(6 * MiB)))
    for (const each of [store, await openAgain()]) {
      await expectAbsent(each, key)
      expect(await each.usage(alice), 'usage').to.deep.equal({ blobs: 0, bytes: 0 })
      expect(await names(each, alice), 'list').to.deep.equal([])
      expect(await details(each, alice), 'listDetails').to.deep.equal([])
      expect(await each.delete(key), 'delete').to.equal(false)
    }
  })

  test('is not counted beside blobs', async ({ uploads, store }) => {
    await store.put(key, inChunks(old))
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(100_000)))
    expect(await store.usage(alice), 'usage').to.deep.equal({ blobs: 1, bytes: 1000 })
    expect(await names(store, alice), 'list').to.deep.equal([key.name])
    expect(await collect(store.customers()), 'customers').to.deep.equal([alice])
    await expectBlob(store, key, old)
  })

  test('makes only customers of names that customers have', async ({ uploads, store }) => {
    await uploads.begin('bob', planOf())
    const found = await collect(store.customers())
    expect(found.filter((name) => name !== 'bob')).to.deep.equal([])
  })

  test('stays as it is when a blob of its name is put, replaced and deleted', async (harness) => {
    const { uploads, store } = harness
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(1000)))
    await store.put(key, inChunks(old))
    await uploads.append(upload, 1000, inChunks(pattern(1000, { offset: 1000 })))
    await store.put(key, inChunks(pattern(10)))
    await store.delete(key)
    await expectBytes(uploads, upload, pattern(2000))
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(2000))
  })

  test('leaves blobs as they are', async ({ uploads, store }) => {
    const info = await store.put(key, inChunks(old))
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(2000)))
    await uploads.discard(upload)
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, old)
  })
}

function lists(test: ResumableTest): void {
  test("lists a customer's unfinished uploads, with their states", async (harness) => {
    const { uploads, openAgain } = harness
    const plans = [planOf({ length: 10 }), planOf({ note: 'n' }), planOf({ name: 'other' })]
    const begun = await Promise.all(plans.map((plan) => uploads.begin(alice, plan)))
    const first = { customer: alice, id: begun[0]?.id ?? '' }
    await uploads.append(first, 0, inChunks(pattern(7)))
    await uploads.begin('bob', planOf())
    for (const each of [uploads, uploadsOf(await openAgain())]) {
      const found = (await collect(each.list(alice))).flat()
      const states = begun.map(({ id }) => each.state({ customer: alice, id }))
      expect(found).to.have.deep.members(await Promise.all(states))
    }
  })

  test('lists neither what is published nor what is discarded', async ({ uploads }) => {
    const [published, discarded, unfinished] = [
      await begin(uploads),
      await begin(uploads),
      await begin(uploads),
    ]
    await uploads.publish(published)
    await uploads.discard(discarded)
    expect(await listedIds(uploads, alice)).to.deep.equal([unfinished.id])
  })

  test('lists nothing for a customer without uploads', async ({ uploads, store }) => {
    expect(await listedIds(uploads, alice)).to.deep.equal([])
    await store.put(key, inChunks(old))
    expect(await listedIds(uploads, alice)).to.deep.equal([])
  })

  test('lists each of 40 uploads once', async ({ uploads }) => {
    const begun = await Promise.all(Array.from({ length: 40 }, () => begin(uploads)))
    expect(await listedIds(uploads, alice)).to.have.members(begun.map(({ id }) => id))
  })
}

function discarding(test: ResumableTest): void {
  for (const size of [0, 1000, 6 * MiB]) {
    test(`leaves nothing of ${size} bytes that are discarded`, async (harness) => {
      const { uploads, openAgain } = harness
      const upload = await begin(uploads)
      await uploads.append(upload, 0, inChunks(pattern(size)))
      expect(await uploads.discard(upload), 'discard').to.equal(true)
      expect(await uploads.discard(upload), 'discard again').to.equal(false)
      await expectTidy(harness)
      expect(await uploadsOf(await openAgain()).state(upload)).to.equal(undefined)
      expect(await listedIds(uploads, alice)).to.deep.equal([])
    })
  }

  test('sweeps nothing that is discarded', async ({ uploads }) => {
    await uploads.discard(await begin(uploads))
    expect(await uploads.sweep(new Date(Date.now() + 2 * hourMs))).to.equal(0)
  })
}
