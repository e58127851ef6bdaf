import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createQuotaAccounts, type SharedAccount } from '../../src/policy/quota-accounts.ts'
import { createQuotaKeeper, createUploadCounter } from '../../src/policy/quota-keeper.ts'
import { chunks } from '../content.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper', () => {
  describe('the time between content and publication', () => {
    it('belongs to one upload of a name', async () => {
      const { keeper } = bookkeeping()
      const first = await keeper.claim(alice, 'a')
      const second = await keeper.claim(alice, 'a')
      await first.prepare()
      let prepared = false
      const waiting = second.prepare().then(() => (prepared = true))
      await turn()
      expect(prepared).to.equal(false)
      first.end()
      await waiting
      second.end()
    })

    it('is not shared with a deletion of the name, which waits and frees the new size', async () => {
      const { keeper, store, put, remove, room } = bookkeeping()
      await put(alice, 'a', 20)
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(50)
      await claim.prepare()
      const removal = remove(alice, 'a')
      await turn()
      expect((await store.usage('alice')).bytes).to.equal(20)
      await store.put({ customer: 'alice', name: 'a' }, chunks(50))
      claim.settle()
      claim.end()
      expect(await removal).to.equal(true)
      expect(await room(alice)).to.equal(100)
    })

    it('is not had while a deletion of the name is under way', async () => {
      const { keeper, store, put, room } = bookkeeping()
      await put(alice, 'a', 60)
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(50)
      const gate = Promise.withResolvers<undefined>()
      const removal = keeper.free(alice, 'a', async () => {
        await gate.promise
        return store.delete({ customer: 'alice', name: 'a' })
      })
      await turn()
      const prepared = claim.prepare()
      await turn()
      gate.resolve(undefined)
      await removal
      await prepared
      await store.put({ customer: 'alice', name: 'a' }, chunks(50))
      claim.settle()
      claim.end()
      expect(await room(alice)).to.equal(50)
    })

    it('of different names and customers goes by at once', async () => {
      const { keeper } = bookkeeping()
      const ab = { name: 'ab', quota: 100 }
      const claims = await Promise.all([
        keeper.claim(alice, 'a'),
        keeper.claim(alice, 'b'),
        keeper.claim(ab, 'a'),
      ])
      await Promise.all(claims.map((claim) => claim.prepare()))
      for (const claim of claims) claim.end()
    })

    it('ends with an upload that was given up while it waited', async () => {
      const { keeper, remove } = bookkeeping()
      const first = await keeper.claim(alice, 'a')
      const second = await keeper.claim(alice, 'a')
      await first.prepare()
      const waiting = second.prepare()
      second.end()
      first.end()
      await waiting
      expect(await remove(alice, 'a')).to.equal(false)
    })

    it('ends with an upload whose file could not be looked up', async () => {
      const { keeper, overrides, remove } = bookkeeping()
      const claim = await keeper.claim(alice, 'a')
      overrides.stat = () => Promise.reject(new Error('down'))
      expect(await rejection(claim.prepare())).to.have.property('message', 'down')
      claim.end()
      delete overrides.stat
      expect(await remove(alice, 'a')).to.equal(false)
    })
  })

  describe('free', () => {
    it('unlocks the names, and succeeds, where other servers cannot be told', async () => {
      const store = createMemoryBlobStore()
      const own = createQuotaAccounts(store, {})
      const shared: SharedAccount = {
        lock: async () => () => {},
        take: async () => true,
        confirm: async () => {},
        beginPublishing: async () => () => {},
        flush: () => Promise.reject(new Error('down')),
      }
      const accounts: typeof own = {
        ...own,
        open: (...args) => Object.assign(own.open(...args), { shared }),
        find: (customer) => {
          const found = own.find(customer)
          return found && Object.assign(found, { shared })
        },
      }
      const uploads = createUploadCounter({ list: async function* () {} })
      const keeper = createQuotaKeeper(store, { shared: { accounts, uploads } })
      const key = { customer: 'alice', name: 'a' }
      await store.put(key, chunks(10))
      const other = await keeper.claim(alice, 'other')
      const remove = () => keeper.free(alice, 'a', () => store.delete(key))
      expect(await remove()).to.equal(true)
      expect(await remove()).to.equal(false)
      other.end()
    })

    it('frees the bytes of the file that was deleted, and says so', async () => {
      const { put, remove, room } = bookkeeping()
      await put(alice, 'a', 60)
      expect(await remove(alice, 'a')).to.equal(true)
      expect(await room(alice)).to.equal(100)
    })

    it('frees nothing when there was no file', async () => {
      const { put, remove, room } = bookkeeping()
      await put(alice, 'a', 60)
      expect(await remove(alice, 'b')).to.equal(false)
      expect(await room(alice)).to.equal(40)
    })

    it('frees nothing of a file that something else deleted in between', async () => {
      const { keeper, put, room } = bookkeeping()
      await put(alice, 'a', 60)
      expect(await keeper.free(alice, 'a', async () => false)).to.equal(false)
      expect(await room(alice)).to.equal(40)
    })

    it('frees nothing, and lets the next go on, when the deletion fails', async () => {
      const { keeper, put, remove, room } = bookkeeping()
      await put(alice, 'a', 60)
      const failed = keeper.free(alice, 'a', () => Promise.reject(new Error('down')))
      expect(await rejection(failed)).to.have.property('message', 'down')
      expect(await room(alice)).to.equal(40)
      expect(await remove(alice, 'a')).to.equal(true)
      expect(await room(alice)).to.equal(100)
    })

    it('frees once when two delete one file at once', async () => {
      const { put, remove, room } = bookkeeping()
      await put(alice, 'a', 30)
      await put(alice, 'b', 30)
      const removed = await Promise.all([remove(alice, 'a'), remove(alice, 'a')])
      expect(removed).to.have.members([true, false])
      expect(await room(alice)).to.equal(70)
    })

    it('waits for a count under way, which may have seen the file', async () => {
      const { keeper, store, overrides, remove, room } = bookkeeping()
      await store.put({ customer: 'alice', name: 'a' }, chunks(60))
      const gate = Promise.withResolvers<undefined>()
      overrides.usage = async (customer) => {
        const usage = await store.usage(customer)
        await gate.promise
        return usage
      }
      const claiming = keeper.claim(alice, 'b')
      const removal = remove(alice, 'a')
      await turn()
      gate.resolve(undefined)
      const claim = await claiming
      await removal
      claim.end()
      expect(await room(alice)).to.equal(100)
    })

    it('deletes even when the count it waited for fails', async () => {
      const { keeper, store, overrides, remove } = bookkeeping()
      await store.put({ customer: 'alice', name: 'a' }, chunks(60))
      overrides.usage = () => Promise.reject(new Error('cannot count'))
      const claiming = rejection(keeper.claim(alice, 'b'))
      expect(await remove(alice, 'a')).to.equal(true)
      expect(await claiming).to.have.property('message', 'cannot count')
    })

    it('is not forgotten when the customer is counted anew meanwhile', async () => {
      const books = bookkeeping()
      const { keeper, store, put, room } = books
      await put(alice, 'a', 60)
      const gate = Promise.withResolvers<undefined>()
      const removal = keeper.free(alice, 'a', async () => {
        await gate.promise
        return store.delete({ customer: 'alice', name: 'a' })
      })
      await turn()
      books.pass(3_600_000)
      expect(await room(alice)).to.equal(40)
      gate.resolve(undefined)
      await removal
      expect(await room(alice)).to.equal(100)
    })

    it('is not forgotten when the customer is first counted meanwhile', async () => {
      const { keeper, store, room } = bookkeeping()
      await store.put({ customer: 'alice', name: 'a' }, chunks(60))
      const gate = Promise.withResolvers<undefined>()
      const removal = keeper.free(alice, 'a', async () => {
        await gate.promise
        return store.delete({ customer: 'alice', name: 'a' })
      })
      expect(await room(alice)).to.equal(40)
      gate.resolve(undefined)
      await removal
      expect(await room(alice)).to.equal(100)
    })
  })
})
