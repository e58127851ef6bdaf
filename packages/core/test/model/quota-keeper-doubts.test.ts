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
  claim.grow(size)
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
      other.grow(100)
      other.end()
    })

    it('keeps that room where the store cannot tell, until the customer is counted anew', async () => {
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
