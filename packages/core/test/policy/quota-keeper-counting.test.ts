import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createQuotaKeeper } from '../../src/policy/quota-keeper.ts'
import { chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper', () => {
  describe('counting', () => {
    it('asks the store once while the customer is busy, and again after idleness', async () => {
      const books = bookkeeping()
      const { keeper, put, store, counts, room } = books
      await put(alice, 'a', 10)
      books.pass(59_999)
      await put(alice, 'b', 10)
      expect(counts()).to.equal(1)
      await store.put({ customer: 'alice', name: 'by another process' }, chunks(50))
      expect(await room(alice)).to.equal(80)
      books.pass(1)
      expect(await room(alice)).to.equal(30)
      expect(counts()).to.equal(2)
      const claim = await keeper.claim(alice, 'c')
      books.pass(3_600_000)
      await put(alice, 'd', 10)
      expect(counts()).to.equal(2)
      claim.end()
      await put(alice, 'e', 10)
      expect(counts()).to.equal(3)
    })

    it('is done anew after a second when less than a tenth of the quota is left', async () => {
      const { put, store, counts, pass, room, keeper } = bookkeeping()
      await put(alice, 'a', 90)
      pass(59_999)
      expect(await room(alice)).to.equal(10)
      expect(counts()).to.equal(1)
      await store.put({ customer: 'alice', name: 'by another process' }, chunks(5))
      await put(alice, 'a', 91)
      expect(await room(alice)).to.equal(4)
      expect(counts()).to.equal(2)
      pass(999)
      expect((await keeper.claim(alice, 'b', 4)).end()).to.equal(undefined)
      expect(counts()).to.equal(2)
      pass(1)
      expect(await room(alice)).to.equal(4)
      expect(counts()).to.equal(3)
    })

    it('is done anew before an announced size is refused for want of room', async () => {
      const { put, store, pass, keeper } = bookkeeping()
      await put(alice, 'a', 50)
      await store.delete({ customer: 'alice', name: 'a' })
      pass(999)
      expect(await refusal(keeper.claim(alice, 'b', 100))).to.equal('quota-exceeded')
      pass(1)
      const claim = await keeper.claim(alice, 'b', 100)
      claim.end()
    })

    it('takes no more than a twentieth of the time, however long it takes', async () => {
      const books = bookkeeping()
      books.overrides.usage = async () => {
        books.pass(500)
        return { blobs: 1, bytes: 95 }
      }
      await books.room(alice)
      books.pass(9_499)
      await books.room(alice)
      expect(books.counts()).to.equal(1)
      books.pass(1)
      await books.room(alice)
      expect(books.counts()).to.equal(2)
    })

    it('is due after deletions too, when they have ended', async () => {
      const books = bookkeeping()
      await books.put(alice, 'a', 10)
      await books.remove(alice, 'a')
      await books.remove(alice, 'a')
      books.pass(60_000)
      await books.put(alice, 'b', 10)
      expect(books.counts()).to.equal(2)
    })

    it('is had as often as one wishes', async () => {
      const books = bookkeeping({ recountAfterMs: 10 })
      await books.put(alice, 'a', 10)
      books.pass(9)
      await books.put(alice, 'b', 10)
      expect(books.counts()).to.equal(1)
      books.pass(1)
      await books.put(alice, 'c', 10)
      expect(books.counts()).to.equal(2)
    })

    it('goes by the clock on the wall unless given another', async () => {
      const store = createMemoryBlobStore()
      const keeper = createQuotaKeeper(store, { recountAfterMs: 3_600_000 })
      const first = await keeper.claim(alice, 'a')
      first.end()
      await store.put({ customer: 'alice', name: 'unseen' }, chunks(100))
      const second = await keeper.claim(alice, 'a')
      void second.grow(100)
      second.end()
    })

    it('is done once for uploads that begin together', async () => {
      const { put, counts } = bookkeeping()
      await Promise.all(['a', 'b', 'c'].map((name) => put(alice, name, 10)))
      expect(counts()).to.equal(1)
    })

    it('is tried again when it failed, and fails every upload that waited for it', async () => {
      const { overrides, keeper, put, room } = bookkeeping()
      overrides.usage = () => Promise.reject(new Error('down'))
      const failed = await Promise.all(
        ['a', 'b'].map((name) => rejection(keeper.claim(alice, name))),
      )
      for (const error of failed) expect(error).to.have.property('message', 'down')
      delete overrides.usage
      await put(alice, 'a', 60)
      expect(await room(alice)).to.equal(40)
    })

    it('leaves no claim behind when the file to replace cannot be looked up', async () => {
      const books = bookkeeping()
      await books.put(alice, 'a', 10)
      books.overrides.stat = () => Promise.reject(new Error('down'))
      const failed = await rejection(books.keeper.claim(alice, 'b'))
      expect(failed).to.have.property('message', 'down')
      delete books.overrides.stat
      books.pass(60_000)
      await books.put(alice, 'c', 10)
      expect(books.counts()).to.equal(2)
    })
  })
})
