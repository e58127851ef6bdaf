import { setImmediate } from 'node:timers/promises'
import type { BlobStore, RenameOptions } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import {
  type BlobStoreHarness,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import {
  expectAbsent,
  expectBlob,
  expectRefusal,
  expectTidy,
  names,
} from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'
import { digest, pattern, gated, generated, inChunks, MiB } from './support/content.ts'

export interface RenamingSuiteOptions extends SuiteOptions {
  /** Opens a store whose medium cannot be reached, to test that it never reports that as absence. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
}

interface RenamingHarness extends BlobStoreHarness {
  readonly rename: NonNullable<BlobStore['rename']>
}

type RenamingTest = (fact: string, body: (harness: RenamingHarness) => Promise<void>) => void

/**
 * Declares the tests that `rename` of a `BlobStore` must pass; a store without it fails them. `open` makes an empty store, as for
 * `describeBlobStore`. At its end each test checks for left-over data and for resources still held.
 */
export function describeRenaming(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: RenamingSuiteOptions = {},
): void {
  const { runner = globalRunner(), openUnreachable } = options
  const testOn =
    (openOne: () => Promise<BlobStoreHarness>): RenamingTest =>
    (fact, body) =>
      runner.it(fact, () =>
        withHarness(openOne, async (harness) => {
          await body({ ...harness, rename: renameOf(harness.store) })
          await expectTidy(harness)
        }),
      )
  const test = testOn(open)

  runner.describe(`${name} renaming`, () => {
    runner.describe('a new name', () => newName(test))
    runner.describe('a taken name', () => takenName(test))
    runner.describe('at once', () => atOnce(test))
    runner.describe('between openings', () => betweenOpenings(test))
    if (openUnreachable) {
      runner.describe('unreachable', () => {
        testOn(openUnreachable)('rejects with store-unavailable', async ({ rename }) => {
          await expectRefusal(rename(before, 'after'), 'store-unavailable')
        })
      })
    }
  })
}

function renameOf(store: BlobStore): RenamingHarness['rename'] {
  if (store.rename) return store.rename.bind(store)
  throw new AssertionError('the store has no method "rename"')
}

const before = { customer: 'alice', name: 'before' }
const after = { customer: 'alice', name: 'after' }
const createOnly: RenameOptions = { createOnly: true }

/** Both ways, which a store may implement by different steps. */
const ways: Readonly<Record<string, RenameOptions>> = {
  replacing: {},
  'create-only': createOnly,
}

function newName(test: RenamingTest): void {
  for (const [way, options] of Object.entries(ways)) {
    for (const size of [0, 1, 200_000, 5 * MiB + 1]) {
      test(`moves a blob of ${size} bytes, ${way}`, async ({ store, rename }) => {
        await store.put(before, generated(size))
        const info = await rename(before, 'after', options)
        expect(info, 'info').to.include({ name: 'after', size })
        expect(await store.stat(after), 'stat').to.deep.equal(info)
        await expectBlob(store, after, pattern(size))
        await expectAbsent(store, before)
        expect(await names(store, 'alice')).to.deep.equal(['after'])
        expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: size })
      })
    }

    test(`finds no blob under a free name, and changes nothing, ${way}`, async (harness) => {
      const { store, rename } = harness
      await store.put(after, inChunks(pattern(10)))
      const free = { customer: 'alice', name: 'free' }
      expect(await rename(before, 'free', options)).to.equal(undefined)
      await expectAbsent(store, free)
      if (options.createOnly !== true) {
        expect(await rename(before, 'after', options)).to.equal(undefined)
      }
      await expectBlob(store, after, pattern(10))
    })
  }

  test('keeps names of every form', async ({ store, rename }) => {
    let key = before
    await store.put(key, inChunks(pattern(100)))
    for (const name of nastyNames) {
      const info = await rename(key, name)
      expect(info?.name).to.equal(name)
      key = { customer: 'alice', name }
    }
    expect(await names(store, 'alice')).to.deep.equal([key.name])
    await expectBlob(store, key, pattern(100))
  })

  test('leaves blobs of the same names of other customers alone', async ({ store, rename }) => {
    const others = [before, after].map(({ name }) => ({ customer: 'bob', name }))
    for (const key of others) await store.put(key, inChunks(pattern(50, { seed: 2 })))
    await store.put(before, inChunks(pattern(100)))
    await rename(before, 'after')
    for (const key of others) await expectBlob(store, key, pattern(50, { seed: 2 }))
  })

  test('lets the earlier name be used anew', async ({ store, rename }) => {
    await store.put(before, inChunks(pattern(100)))
    await rename(before, 'after')
    await store.put(before, inChunks(pattern(10, { seed: 2 })), createOnly)
    await expectBlob(store, before, pattern(10, { seed: 2 }))
    await expectBlob(store, after, pattern(100))
  })

  test('renames a blob back', async ({ store, rename }) => {
    await store.put(before, inChunks(pattern(100)))
    await rename(before, 'after', createOnly)
    await rename(after, 'before', createOnly)
    await expectBlob(store, before, pattern(100))
    expect(await names(store, 'alice')).to.deep.equal(['before'])
  })

  test('leaves a blob that is being read alone', async ({ store, rename }) => {
    await store.put(before, generated(5 * MiB))
    const blob = await store.open(before)
    await rename(before, 'after')
    expect(await digest(blob?.content ?? [])).to.deep.equal(await digest([pattern(5 * MiB)]))
  })
}

function takenName(test: RenamingTest): void {
  test('replaces the blob of the new name, if it is not create-only', async (harness) => {
    const { store, rename } = harness
    const replaced = await store.put(after, generated(300_000, 2))
    await store.put(before, inChunks(pattern(100)))
    const info = await rename(before, 'after')
    expect(info?.etag, 'etag').not.to.equal(replaced.etag)
    await expectBlob(store, after, pattern(100))
    expect(await names(store, 'alice')).to.deep.equal(['after'])
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 100 })
  })

  test('never sets back the time of a name', async ({ store, rename }) => {
    await store.put(before, inChunks(pattern(100)))
    const replaced = await store.put(after, inChunks(pattern(100, { seed: 2 })))
    const info = await rename(before, 'after')
    const [time, earlier] = [info, replaced].map((one) => one?.modifiedAt.getTime() ?? 0)
    expect(time).to.be.at.least(earlier ?? 0)
    expect(await store.stat(after)).to.deep.equal(info)
  })

  test('leaves a reader of the replaced blob alone', async ({ store, rename }) => {
    await store.put(after, generated(5 * MiB, 2))
    await store.put(before, inChunks(pattern(100)))
    const blob = await store.open(after)
    await rename(before, 'after')
    const expected = await digest([pattern(5 * MiB, { seed: 2 })])
    expect(await digest(blob?.content ?? [])).to.deep.equal(expected)
  })

  test('refuses a taken name, if it is create-only, and changes nothing', async (harness) => {
    const { store, rename } = harness
    const infos = [
      await store.put(before, inChunks(pattern(100))),
      await store.put(after, inChunks(pattern(10, { seed: 2 }))),
    ]
    await expectRefusal(rename(before, 'after', createOnly), 'already-exists')
    expect([await store.stat(before), await store.stat(after)]).to.deep.equal(infos)
    await expectBlob(store, after, pattern(10, { seed: 2 }))
  })

  test('takes no name of a put that is not published', async ({ store, rename }) => {
    await store.put(before, inChunks(pattern(100)))
    const pending = gated(pattern(10, { seed: 2 }))
    const put = store.put(after, pending.content)
    await pending.stalled
    await rename(before, 'after', createOnly)
    await expectBlob(store, after, pattern(100))
    pending.release()
    await put
    await expectBlob(store, after, pattern(10, { seed: 2 }))
  })

  test('publishes a put under the earlier name that had begun before', async (harness) => {
    const { store, rename } = harness
    await store.put(before, inChunks(pattern(100)))
    const pending = gated(pattern(10, { seed: 2 }))
    const put = store.put(before, pending.content)
    await pending.stalled
    await rename(before, 'after')
    await expectAbsent(store, before)
    pending.release()
    await put
    await expectBlob(store, before, pattern(10, { seed: 2 }))
    await expectBlob(store, after, pattern(100))
  })
}

function atOnce(test: RenamingTest): void {
  for (const [way, options] of Object.entries(ways)) {
    test(`renames a blob once, however many renames come at once, ${way}`, async (harness) => {
      const { store, rename } = harness
      await store.put(before, inChunks(pattern(1000)))
      const infos = await Promise.all(
        Array.from({ length: 10 }, (_, index) => rename(before, `name-${index}`, options)),
      )
      const [winner, ...others] = infos.filter((info) => info !== undefined)
      expect(others, 'further winners').to.deep.equal([])
      expect(await names(store, 'alice')).to.deep.equal([winner?.name])
      const key = { customer: 'alice', name: winner?.name ?? '' }
      await expectBlob(store, key, pattern(1000))
    })

    test(`shows a blob under a name at any time while it is renamed, ${way}`, async (harness) => {
      const { store, rename } = harness
      await store.put(before, inChunks(pattern(1000)))
      for (let count = 0; count < 10; count++) {
        const [from, to] = count % 2 === 0 ? [before, after] : [after, before]
        let isRenamed = false
        const renaming = rename(from, to.name, options).finally(() => (isRenamed = true))
        while (!isRenamed) {
          // In this order: a blob that has left its earlier name must have the new one.
          const found = (await store.stat(from)) ?? (await store.stat(to))
          expect(found?.size, 'size').to.equal(1000)
          // Without a pause, a store that answers within one tick of the event loop would keep the rename from its own.
          await setImmediate()
        }
        await renaming
      }
      await expectBlob(store, before, pattern(1000))
      expect(await names(store, 'alice')).to.deep.equal(['before'])
    })
  }

  test('renames a blob once to one name, replacing and create-only', async ({ store, rename }) => {
    await store.put(before, inChunks(pattern(1000)))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        rename(before, 'after', index % 2 ? createOnly : {}),
      ),
    )
    const infos = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' && outcome.value ? [outcome.value] : [],
    )
    expect(infos, 'winners').to.have.length(1)
    await expectBlob(store, after, pattern(1000))
    await expectAbsent(store, before)
  })

  test('lets exactly one of ten create-only renames to one name succeed', async (harness) => {
    const { store, rename } = harness
    const keys = Array.from({ length: 10 }, (_, index) => ({
      customer: 'alice',
      name: `name-${index}`,
    }))
    for (const [index, key] of keys.entries()) await store.put(key, inChunks(pattern(100 + index)))
    const outcomes = await Promise.allSettled(keys.map((key) => rename(key, 'after', createOnly)))
    const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === 'fulfilled')
    expect(winners, 'winners').to.have.length(1)
    const [winner = 0] = winners
    await expectBlob(store, after, pattern(100 + winner))
    expect(await store.usage('alice')).to.have.property('blobs', 10)
  })

  test('loses no put to the earlier name, and none to the new one', async ({ store, rename }) => {
    for (let count = 0; count < 20; count++) {
      const bytes = pattern(100 + count, { seed: count })
      await store.put(before, inChunks(pattern(50)))
      const [put] = await Promise.all([
        store.put(before, inChunks(bytes)),
        rename(before, 'after', count % 2 === 0 ? createOnly : {}),
      ])
      const found = await Promise.all([store.stat(before), store.stat(after)])
      const sizes = found.map((info) => info?.size)
      expect(sizes, `the sizes after a put of ${put.size} bytes`).to.include(put.size)
      await store.delete(after)
      await store.delete(before)
    }
  })
}

function betweenOpenings(test: RenamingTest): void {
  test('shows another opening the new name once rename has resolved', async (harness) => {
    const { store, rename, openAgain } = harness
    const other = await openAgain()
    await store.put(before, inChunks(pattern(100)))
    await expectBlob(other, before, pattern(100))
    const info = await rename(before, 'after', createOnly)
    expect(await other.stat(after)).to.deep.equal(info)
    await expectBlob(other, after, pattern(100))
    await expectAbsent(other, before)
    expect(await names(other, 'alice')).to.deep.equal(['after'])
  })

  test('lets exactly one of ten create-only renames through two openings succeed', async (harness) => {
    const { store, rename, openAgain } = harness
    const renameThere = renameOf(await openAgain())
    const keys = Array.from({ length: 10 }, (_, index) => `name-${index}`)
    for (const name of keys) await store.put({ ...before, name }, inChunks(pattern(100)))
    const outcomes = await Promise.allSettled(
      keys.map((name, index) =>
        (index % 2 === 0 ? rename : renameThere)({ ...before, name }, 'after', createOnly),
      ),
    )
    const winners = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(winners, 'winners').to.have.length(1)
    expect(await store.usage('alice')).to.have.property('blobs', 10)
  })
}
