import { expect } from 'chai'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { chunks } from '../content.ts'
import { rejection, thrownCode } from '../rejection.ts'
import { turn } from '../turn.ts'
import { bookkeeping, type Bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }
const lost = new Error('The answer was lost')

/** An upload whose publication fails, with the file in the store or without. */
async function publishInVain(
  books: Bookkeeping,
  name: string,
  size: number,
  isStored: boolean,
  stat: BlobStore['stat'] = (key) => books.store.stat(key),
) {
  const claim = await books.keeper.claim(alice, name)
  void claim.grow(size)
  await claim.prepare()
  if (isStored) await books.store.put({ customer: 'alice', name }, chunks(size))
  books.overrides.stat = stat
  claim.end()
}

/** A deletion that fails, when the file has gone already. */
const removeInVain = ({ keeper, store }: Bookkeeping, name: string) =>
  rejection(
    keeper.free(alice, name, async () => {
      await store.delete({ customer: 'alice', name })
      throw lost
    }),
  )

describe('createQuotaKeeper', () => {
  describe('where a publication fails', () => {
    for (const [outcome, isStored, size, left] of [
      ['a larger file that is there after all', true, 60, 40],
      ['a smaller file that is there after all', true, 10, 90],
      ['a file that is not there', false, 60, 70],
    ] as const) {
      it(`knows of ${outcome}`, async () => {
        const books = bookkeeping()
        await books.put(alice, 'a', 30)
        await publishInVain(books, 'a', size, isStored)
        expect(await books.room(alice)).to.equal(left)
      })
    }

    it('keeps room for what may be there until that is known', async () => {
      const books = bookkeeping()
      const other = await books.keeper.claim(alice, 'other')
      await publishInVain(books, 'a', 60, false)
      expect(thrownCode(() => other.grow(41))).to.equal('quota-exceeded')
      await turn()
      void other.grow(100)
      other.end()
    })

    it('keeps that room where the store does not know, until the customer is counted anew', async () => {
      for (const isStored of [true, false]) {
        const books = bookkeeping()
        const other = await books.keeper.claim(alice, 'other')
        await publishInVain(books, 'a', 60, isStored, () => Promise.reject(lost))
        await turn()
        expect(thrownCode(() => other.grow(41))).to.equal('quota-exceeded')
        books.overrides.stat = (key) => books.store.stat(key)
        other.end()
        expect(await books.room(alice)).to.equal(isStored ? 40 : 100)
      }
    })

    it('leaves the name to others', async () => {
      const books = bookkeeping()
      await publishInVain(books, 'a', 60, true)
      await books.put(alice, 'a', 100)
      expect(await books.room(alice)).to.equal(0)
    })
  })

  describe('where the process that publishes has died', () => {
    for (const [outcome, isStored, left] of [
      ['the store still publishes', true, 40],
      ['nothing comes any more', false, 100],
    ] as const) {
      it(`keeps room and name until that is over, and looks then: ${outcome}`, async () => {
        const books = bookkeeping()
        const over = Promise.withResolvers<undefined>()
        const claim = await books.keeper.claim(alice, 'a')
        void claim.grow(60)
        await claim.prepare()
        claim.endAfter(over.promise)
        expect(await books.room(alice)).to.equal(40)
        const next = await books.keeper.claim(alice, 'a')
        let hasName = false
        const preparing = next.prepare().then(() => (hasName = true))
        await turn()
        expect(hasName).to.equal(false)
        if (isStored) await books.store.put({ customer: 'alice', name: 'a' }, chunks(60))
        over.resolve(undefined)
        await preparing
        expect(await books.room(alice)).to.equal(left)
        next.end()
      })
    }

    it('frees what was not about to be published at once', async () => {
      const books = bookkeeping()
      const claim = await books.keeper.claim(alice, 'a')
      void claim.grow(60)
      claim.endAfter(new Promise(() => {}))
      expect(await books.room(alice)).to.equal(100)
    })
  })

  describe('where an upload has let others have its name', () => {
    for (const isSettled of [true, false]) {
      it(`counts it beside theirs until the customer is counted anew, ${isSettled ? 'published' : 'failed'}`, async () => {
        const books = bookkeeping()
        const other = await books.keeper.claim(alice, 'other')
        const claim = await books.keeper.claim(alice, 'a')
        void claim.grow(60)
        await claim.prepare()
        claim.yieldName()
        await books.put(alice, 'a', 10)
        if (isSettled) claim.settle()
        claim.end()
        expect(await books.room(alice)).to.equal(30)
        other.end()
        expect(await books.room(alice)).to.equal(90)
      })
    }

    it('has nothing to give before it publishes', async () => {
      const books = bookkeeping()
      const claim = await books.keeper.claim(alice, 'a')
      claim.yieldName()
      void claim.grow(60)
      claim.end()
      expect(await books.room(alice)).to.equal(100)
    })
  })

  describe('where a deletion fails', () => {
    it('knows that the file has gone after all', async () => {
      const books = bookkeeping()
      await books.put(alice, 'a', 60)
      expect(await removeInVain(books, 'a')).to.equal(lost)
      expect(await books.room(alice)).to.equal(100)
    })

    it('knows it where the customer was counted meanwhile', async () => {
      const books = bookkeeping()
      await books.store.put({ customer: 'alice', name: 'a' }, chunks(60))
      const deletion = books.keeper.free(alice, 'a', async () => {
        expect(await books.room(alice)).to.equal(40)
        await books.store.delete({ customer: 'alice', name: 'a' })
        throw lost
      })
      expect(await rejection(deletion)).to.equal(lost)
      expect(await books.room(alice)).to.equal(100)
    })
  })
})
