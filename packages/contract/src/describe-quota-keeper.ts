import { setImmediate } from 'node:timers/promises'
import {
  createFileService,
  isFileServiceError,
  type BlobInfo,
  type BlobStore,
  type Customer,
  type QuotaClaim,
  type QuotaKeeper,
  type ResumableFiles,
} from '@holdfast/core'
import { expect } from 'chai'
import { firstAndLast, globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'
import { expectRefusal, rejection } from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'
import { generated } from './support/content.ts'

/** Quota keepers made for one test. */
export interface QuotaKeeperHarness {
  /**
   * Keepers that share their accounts, as those of several processes or servers do. The tests use the first and the last one, which are
   * the same where there is only one.
   */
  readonly keepers: readonly QuotaKeeper[]
  /** An empty store with uploads in pieces, whose blobs the keepers count. */
  readonly store: BlobStore
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

/** Declares the tests that every {@link QuotaKeeper} must pass. Each test opens its own keepers and disposes of them. */
export function describeQuotaKeeper(
  name: string,
  open: () => Promise<QuotaKeeperHarness>,
  { runner = globalRunner() }: SuiteOptions = {},
): void {
  const test: KeeperTest = (fact, body) =>
    runner.it(fact, () => withHarness(open, (harness) => body(siteOf(harness))))
  const group = (title: string, declare: (test: KeeperTest) => void) =>
    runner.describe(title, () => declare(test))

  runner.describe(`${name} as a QuotaKeeper`, () => {
    group('claims', claims)
    group('of many at once', manyAtOnce)
    group('replacements and deletions', changes)
    group('uploads in pieces', pieces)
    group('customers', customers)
  })
}

type KeeperTest = (fact: string, body: (site: Site) => Promise<void>) => void

/** What the tests do with the keepers. */
interface Site {
  readonly store: BlobStore
  readonly first: QuotaKeeper
  readonly last: QuotaKeeper
  /** Stores a file of `size` bytes as an upload of unknown size does. */
  readonly upload: (
    keeper: QuotaKeeper,
    name: string,
    size: number,
    customer?: Customer,
  ) => Promise<void>
  /** Deletes a file as a customer does. */
  readonly remove: (keeper: QuotaKeeper, name: string) => Promise<boolean>
  /** Renames a file as a customer does. */
  readonly rename: (keeper: QuotaKeeper, name: string, to: string) => Promise<BlobInfo>
  /** Checks that a new file may have `bytes`, and not one more, by whichever keeper. */
  readonly expectRoom: (bytes: number, customer?: Customer) => Promise<void>
  /** The uploads in pieces of alice, who may have three unfinished ones, by a service with this keeper. */
  readonly piecesOf: (keeper: QuotaKeeper) => ResumableFiles
}

const quota = 100
const alice: Customer = { name: 'alice', quota }

function siteOf({ keepers, store }: QuotaKeeperHarness): Site {
  const { first, last } = firstAndLast(keepers)
  const filesOf = (keeper: QuotaKeeper, customer: Customer) =>
    createFileService({ store, quotas: keeper, maxUnfinishedUploads: 3 }).filesOf(customer)
  return {
    store,
    first,
    last,
    piecesOf(keeper) {
      const { resumable } = filesOf(keeper, alice)
      if (resumable === undefined) throw new TypeError('The store has no uploads in pieces')
      return resumable
    },
    async upload(keeper, name, size, customer = alice) {
      await filesOf(keeper, customer).upload(name, generated(size))
    },
    async rename(keeper, name, to) {
      const info = await filesOf(keeper, alice).rename?.(name, to)
      if (info === undefined) throw new TypeError('The store cannot rename')
      return info
    },
    remove: (keeper, name) =>
      keeper.free(alice, name, () => store.delete({ customer: alice.name, name })),
    async expectRoom(bytes, customer = alice) {
      for (const keeper of [first, last]) {
        const announced = await keeper.claim(customer, 'new', bytes)
        announced.end()
        await expectRefusal(keeper.claim(customer, 'new', bytes + 1), 'quota-exceeded')
      }
    },
  }
}

/** Counts bytes of a claim that arrive one after the other. */
async function growBy(claim: QuotaClaim, ...sizes: readonly number[]): Promise<void> {
  for (const size of sizes) await claim.grow(size)
}

function claims(test: KeeperTest): void {
  test('take announced bytes up to the quota, and not one more', async ({ expectRoom }) => {
    await expectRoom(quota)
  })

  test('take arriving bytes up to the quota, and not one more', async ({ first }) => {
    const claim = await first.claim(alice, 'a')
    await growBy(claim, 60, 39, 1)
    await expectRefusal(growBy(claim, 1), 'quota-exceeded')
    claim.end()
  })

  test('count an announced size before it arrives, for all', async ({ first, last }) => {
    const claim = await first.claim(alice, 'a', 70)
    await expectRefusal(last.claim(alice, 'b', 31), 'quota-exceeded')
    const second = await last.claim(alice, 'b', 30)
    await growBy(claim, 70)
    await expectRefusal(growBy(claim, 1), 'quota-exceeded')
    claim.end()
    second.end()
  })

  test('claim nothing when they are refused', async ({ first, expectRoom }) => {
    await expectRefusal(first.claim(alice, 'a', quota + 1), 'quota-exceeded')
    const claim = await first.claim(alice, 'a')
    await growBy(claim, 60)
    await expectRefusal(growBy(claim, 41), 'quota-exceeded')
    claim.end()
    await expectRoom(quota)
  })

  test('count what the store has already', async ({ store, expectRoom }) => {
    await store.put({ customer: 'alice', name: 'old' }, generated(70))
    await expectRoom(30)
  })

  test('count what was published, for all, as soon as the upload has ended', async (site) => {
    const { first, last, upload, expectRoom } = site
    await expectRoom(quota)
    await upload(first, 'a', 40)
    await expectRoom(60)
    await upload(last, 'b', 60)
    await expectRoom(0)
  })

  test('free everything of an upload that fails', async ({ first, last, expectRoom }) => {
    for (const keeper of [first, last]) {
      const claim = await keeper.claim(alice, 'a', 50)
      await growBy(claim, 30, 70)
      claim.end()
      await expectRoom(quota)
    }
  })

  test('free announced bytes that have not arrived at the end of the content', async (site) => {
    const { first, last } = site
    const claim = await first.claim(alice, 'a', 80)
    await growBy(claim, 30)
    await claim.prepare()
    const other = await last.claim(alice, 'b', 70)
    other.end()
    claim.end()
  })

  test('ignore bytes that arrive after the end', async ({ first, expectRoom }) => {
    const claim = await first.claim(alice, 'a')
    await growBy(claim, 30)
    claim.end()
    await growBy(claim, 70, 1000)
    claim.end()
    await expectRoom(quota)
  })

  test('count files, too', async ({ first, last, upload }) => {
    const customer = { name: 'alice', maxFiles: 2 }
    await upload(first, 'a', 1000, customer)
    await upload(last, 'b', 1000, customer)
    await expectRefusal(upload(first, 'c', 0, customer), 'quota-exceeded')
    await expectRefusal(last.claim(customer, 'c', 5), 'quota-exceeded')
    await upload(first, 'a', 10, customer)
  })
}

function manyAtOnce(test: KeeperTest): void {
  /** How many of fifty uploads at once, of different names, are stored. */
  const storeFifty = async ({ first, last, upload }: Site, size: number, customer: Customer) => {
    const uploads = Array.from({ length: 50 }, (_, n) =>
      upload(n % 2 === 0 ? first : last, `${n}`, size, customer).then(
        () => 1,
        (error: unknown) => {
          if (isFileServiceError(error, 'quota-exceeded')) return 0
          throw error
        },
      ),
    )
    return (await Promise.all<number>(uploads)).reduce((sum, one) => sum + one)
  }

  test('lets in as many announced bytes as fit', async ({ first, last }) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? first : last).claim(alice, `${n}`, 9).then(async (claim) => {
          await growBy(claim, 9)
          return claim
        }),
      ),
    )
    const claimed = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(claimed).to.have.length(11)
    for (const { value } of claimed) value.end()
  })

  test('never stores more than the quota', async (site) => {
    const stored = await storeFifty(site, 9, alice)
    const { bytes } = await site.store.usage('alice')
    expect(bytes).to.equal(9 * stored)
    expect(bytes).to.be.at.most(quota)
    // Uploads of unknown size that are refused at the same time may keep each other out, but not for good.
    await site.expectRoom(quota - bytes)
  })

  test('never stores more files than there may be', async (site) => {
    const customer = { name: 'alice', maxFiles: 7 }
    const stored = await storeFifty(site, 1, customer)
    expect((await site.store.usage('alice')).blobs).to.equal(stored)
    expect(stored).to.equal(7)
  })

  test('counts uploads of one name once', async ({ first, last, upload, store, expectRoom }) => {
    await upload(first, 'a', 40)
    await Promise.all([first, last, first, last].map((keeper, n) => upload(keeper, 'a', 10 + n)))
    const { bytes } = await store.usage('alice')
    await expectRoom(quota - bytes)
  })
}

function changes(test: KeeperTest): void {
  test('counts the file that an upload replaces as free space', async (site) => {
    const { first, last, upload, expectRoom } = site
    await upload(first, 'a', 80)
    await upload(last, 'a', 90)
    await expectRoom(10)
    await upload(first, 'a', 20)
    await expectRoom(80)
  })

  test('frees the bytes of a deleted file for all, before the deletion resolves', async (site) => {
    const { first, last, upload, remove, expectRoom } = site
    await upload(first, 'a', 80)
    expect(await remove(last, 'a')).to.equal(true)
    await expectRoom(quota)
  })

  test('frees nothing where there was no file', async (site) => {
    const { first, last, upload, remove, expectRoom } = site
    await upload(first, 'a', 80)
    expect(await remove(first, 'b')).to.equal(false)
    expect(await remove(last, 'b')).to.equal(false)
    await expectRoom(20)
  })

  test('counts a file once that is deleted by two at once', async (site) => {
    const { first, last, upload, remove, expectRoom } = site
    await upload(first, 'a', 40)
    await upload(first, 'b', 40)
    const removed = await Promise.all([remove(first, 'a'), remove(last, 'a')])
    expect(removed.filter(Boolean)).to.have.length(1)
    await expectRoom(60)
  })

  test('rejects with the error of a deletion, and still counts the file', async (site) => {
    const { first, last, upload, expectRoom } = site
    await upload(last, 'a', 80)
    const fault = new Error('The disk is gone')
    const failing = first.free(alice, 'a', async () => {
      throw fault
    })
    expect(String(await rejection(failing))).to.include('The disk is gone')
    await expectRoom(20)
  })

  test('keeps a deletion waiting while an upload of the name is published', async (site) => {
    const { first, last, store, remove, expectRoom } = site
    const claim = await first.claim(alice, 'a')
    await growBy(claim, 30)
    await claim.prepare()
    const removing = remove(last, 'a')
    await store.put({ customer: 'alice', name: 'a' }, generated(30))
    claim.settle()
    claim.end()
    expect(await removing).to.equal(true)
    await expectRoom(quota)
  })

  test('counts a renamed file once, and frees the file that it replaces', async (site) => {
    const { first, last, upload, rename, expectRoom } = site
    await upload(first, 'a', 50)
    await rename(last, 'a', 'c')
    await expectRoom(50)
    await upload(first, 'b', 30)
    await rename(first, 'b', 'c')
    await expectRoom(70)
  })

  for (const name of ['source', 'target']) {
    test(`keeps a rename waiting while an upload to its ${name} is published`, async (site) => {
      const { first, last, store, upload, rename, expectRoom } = site
      await upload(first, 'source', 20)
      await upload(last, 'target', 30)
      const claim = await first.claim(alice, name)
      await growBy(claim, 40)
      await claim.prepare()
      const renaming = rename(last, 'source', 'target')
      // So that a rename that does not wait comes first.
      for (let turn = 0; turn < 20; turn++) await setImmediate()
      await store.put({ customer: 'alice', name }, generated(40))
      claim.settle()
      claim.end()
      await renaming
      const { bytes } = await store.usage('alice')
      await expectRoom(quota - bytes)
    })
  }
}

function pieces(test: KeeperTest): void {
  test('count with their bytes until they are discarded', async (site) => {
    const { first, last, piecesOf, expectRoom } = site
    const { id } = await piecesOf(first).begin('a', { length: 90 })
    await piecesOf(first).append(id, 0, generated(30))
    await expectRoom(70)
    await piecesOf(last).append(id, 30, generated(20))
    await expectRoom(50)
    await piecesOf(last).discard(id)
    await expectRoom(quota)
  })

  test('count once when they are published', async ({ first, last, piecesOf, expectRoom }) => {
    const { id } = await piecesOf(first).begin('a', { length: 60 })
    await piecesOf(first).append(id, 0, generated(30))
    await piecesOf(last).append(id, 30, generated(30))
    await expectRoom(40)
  })

  test('may use the space of the file that they replace, and no more', async (site) => {
    const { first, last, piecesOf, upload, expectRoom } = site
    await upload(first, 'a', 80)
    const fits = await piecesOf(first).begin('a', {})
    await piecesOf(first).append(fits.id, 0, generated(60))
    await piecesOf(last).append(fits.id, 60, generated(40))
    await expectRefusal(piecesOf(first).append(fits.id, 100, generated(1)), 'quota-exceeded')
    await piecesOf(last).discard(fits.id)
    await expectRoom(20)
  })

  test('are as many as may be unfinished, also at once', async ({ first, last, piecesOf }) => {
    const begun = await Promise.allSettled(
      Array.from({ length: 12 }, async (_, n) =>
        piecesOf(n % 2 === 0 ? first : last).begin(`${n}`, { length: 1 }),
      ),
    )
    expect(begun.filter(({ status }) => status === 'fulfilled')).to.have.length(3)
    for (const outcome of begun) {
      if (outcome.status === 'fulfilled') continue
      expect(isFileServiceError(outcome.reason, 'quota-exceeded')).to.equal(true)
    }
  })

  test('may begin again when one was discarded, or published', async (site) => {
    const { first, last, piecesOf } = site
    const begin = async (name: string) => (await piecesOf(first).begin(name, { length: 5 })).id
    const [discarded, published] = [await begin('a'), await begin('b')]
    await begin('c')
    await expectRefusal(begin('d'), 'quota-exceeded')
    await piecesOf(last).discard(discarded)
    await begin('d')
    await piecesOf(last).append(published, 0, generated(5))
    await begin('e')
    await expectRefusal(begin('f'), 'quota-exceeded')
  })
}

function customers(test: KeeperTest): void {
  test('without limits are never refused', async ({ first, last, upload }) => {
    const free = { name: 'alice' }
    for (const keeper of [first, last]) {
      const claim = await keeper.claim(free, 'a', Number.MAX_SAFE_INTEGER)
      await growBy(claim, 1e15)
      claim.end()
      await upload(keeper, 'a', 1000, free)
    }
  })

  test('do not count for each other, whatever they are called', async (site) => {
    const { first, last, expectRoom } = site
    const names = nastyNames.filter((name) => name !== '' && !name.includes('/')).slice(0, 40)
    const claimed: QuotaClaim[] = []
    for (const [n, name] of names.entries()) {
      const customer = { name, quota }
      await expectRoom(quota, customer)
      claimed.push(await (n % 2 === 0 ? first : last).claim(customer, 'a', quota))
    }
    await expectRoom(quota)
    for (const claim of claimed) claim.end()
  })

  test('may have a quota that changes', async ({ first, last, upload, expectRoom }) => {
    await upload(first, 'a', 80)
    await expectRefusal(last.claim({ ...alice, quota: 70 }, 'b', 1), 'quota-exceeded')
    await expectRoom(120, { ...alice, quota: 200 })
    await expectRoom(0, { ...alice, quota: 80 })
  })
}
