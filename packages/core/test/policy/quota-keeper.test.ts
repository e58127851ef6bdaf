import { expect } from 'chai'
import { chunks } from '../content.ts'
import { refusal, rejection, thrownCode } from '../rejection.ts'
import { turn } from '../turn.ts'
import { bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper', () => {
  describe('claims', () => {
    it('grow up to the quota and not a byte beyond', async () => {
      const { keeper } = bookkeeping()
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(60)
      void claim.grow(40)
      expect(thrownCode(() => claim.grow(1))).to.equal('quota-exceeded')
      void claim.grow(0)
    })

    it('say how much of the quota others use, and what the file needs where that is known', async () => {
      const { keeper, put } = bookkeeping()
      await put(alice, 'a', 60)
      const used = 'Quota exceeded: other files and uploads use'
      const tooLarge = await rejection(keeper.claim(alice, 'b', 41))
      expect(tooLarge).to.include({ message: `${used} 60 of 100 bytes, and this file needs 41` })
      const claim = await keeper.claim(alice, 'b')
      void claim.grow(10)
      expect(() => claim.grow(31)).to.throw(
        `${used} 60 of 100 bytes, and this file needs more than the rest`,
      )
      const beside = await rejection(keeper.claim(alice, 'c', 31))
      expect(beside).to.include({ message: `${used} 70 of 100 bytes, and this file needs 31` })
      claim.end()
      const larger = await rejection(keeper.claim(alice, 'a', 101))
      expect(larger).to.include({ message: `${used} 0 of 100 bytes, and this file needs 101` })
    })

    it('take nothing when they are refused', async () => {
      const { keeper } = bookkeeping()
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(60)
      expect(thrownCode(() => claim.grow(41))).to.equal('quota-exceeded')
      void claim.grow(40)
    })

    it('count what the store keeps already', async () => {
      const { keeper, store } = bookkeeping()
      await store.put({ customer: 'alice', name: 'old' }, chunks(70))
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(30)
      expect(thrownCode(() => claim.grow(1))).to.equal('quota-exceeded')
    })

    it('of parallel uploads never exceed the quota together', async () => {
      const { keeper } = bookkeeping()
      const claims = await Promise.all(['a', 'b', 'c'].map((name) => keeper.claim(alice, name)))
      for (const claim of claims) void claim.grow(33)
      for (const claim of claims) {
        expect(thrownCode(() => claim.grow(2))).to.equal('quota-exceeded')
      }
      void claims[0]?.grow(1)
      for (const claim of claims) {
        expect(thrownCode(() => claim.grow(1))).to.equal('quota-exceeded')
      }
    })

    it('of one customer do not count for another', async () => {
      const { put, room } = bookkeeping()
      await put(alice, 'a', 100)
      expect(await room({ name: 'bob', quota: 100 })).to.equal(100)
    })

    it('give back everything when an upload fails', async () => {
      const { keeper, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(100)
      claim.end()
      expect(await room(alice)).to.equal(100)
    })

    it('give back no more when they end twice', async () => {
      const { keeper, put, room } = bookkeeping()
      await put(alice, 'a', 50)
      const other = await keeper.claim(alice, 'b')
      void other.grow(30)
      const claim = await keeper.claim(alice, 'c')
      void claim.grow(20)
      claim.end()
      claim.end()
      expect(await room(alice)).to.equal(20)
      other.end()
      expect(await room(alice)).to.equal(50)
    })

    it('take nothing after their end, as content may wake when its upload was given up', async () => {
      const { keeper, room } = bookkeeping()
      const other = await keeper.claim(alice, 'b')
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(10)
      claim.end()
      void claim.grow(40)
      expect(await room(alice)).to.equal(100)
      other.end()
    })

    it('turn into kept bytes when they settle', async () => {
      const { put, room } = bookkeeping()
      await put(alice, 'a', 60)
      expect(await room(alice)).to.equal(40)
      await put(alice, 'b', 40)
      expect(await room(alice)).to.equal(0)
      expect(await refusal(put(alice, 'c', 1))).to.equal('quota-exceeded')
      await put(alice, 'empty', 0)
    })
  })

  describe('replacing', () => {
    it('credits the file that is replaced', async () => {
      const { put, room } = bookkeeping()
      await put(alice, 'a', 80)
      await put(alice, 'a', 100)
      expect(await room(alice)).to.equal(0)
      expect(await refusal(put(alice, 'a', 101))).to.equal('quota-exceeded')
      await put(alice, 'a', 10)
      expect(await room(alice)).to.equal(90)
    })

    it('credits it to no other upload meanwhile', async () => {
      const { keeper, put, room } = bookkeeping()
      await put(alice, 'a', 80)
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(10)
      expect(await room(alice)).to.equal(20)
      void claim.grow(85)
      expect(await room(alice)).to.equal(5)
      claim.end()
      expect(await room(alice)).to.equal(20)
    })

    it('leaves the books as they were when it fails', async () => {
      const { keeper, put, room } = bookkeeping()
      await put(alice, 'a', 80)
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(90)
      await claim.prepare()
      claim.end()
      expect(await room(alice)).to.equal(20)
    })

    it('is refused in the end when the file that made room has been deleted', async () => {
      const { keeper, put, remove, room } = bookkeeping()
      await put(alice, 'a', 80)
      await put(alice, 'b', 10)
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(60)
      expect(await remove(alice, 'a')).to.equal(true)
      await put(alice, 'b', 40)
      await put(alice, 'c', 0)
      void claim.grow(30)
      const reason = 'other files and uploads use 40 of 100 bytes, and this file needs 90'
      const refused = { code: 'quota-exceeded', message: `Quota exceeded: ${reason}` }
      expect(await rejection(claim.prepare())).to.include(refused)
      claim.end()
      expect(await room(alice)).to.equal(60)
    })

    it('credits a file that appeared during the upload', async () => {
      const { keeper, store, put, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a')
      void claim.grow(30)
      await put(alice, 'a', 20)
      await claim.prepare()
      await store.put({ customer: 'alice', name: 'a' }, chunks(30))
      claim.settle()
      claim.end()
      expect(await room(alice)).to.equal(70)
    })

    it('by two uploads of one name counts the later one only', async () => {
      const { keeper, store, put, room } = bookkeeping()
      await put(alice, 'a', 20)
      const claims = await Promise.all([keeper.claim(alice, 'a'), keeper.claim(alice, 'a')])
      const sizes = [40, 50]
      const publish = async (index: number) => {
        const claim = claims[index]!
        void claim.grow(sizes[index]!)
        await claim.prepare()
        await turn()
        await store.put({ customer: 'alice', name: 'a' }, chunks(sizes[index]!))
        claim.settle()
        claim.end()
      }
      await Promise.all([publish(0), publish(1)])
      expect((await store.usage('alice')).bytes).to.equal(50)
      expect(await room(alice)).to.equal(50)
    })
  })

  describe('customers without a quota', () => {
    it('cost nothing: the store is never asked', async () => {
      const { keeper, overrides } = bookkeeping()
      overrides.usage = () => Promise.reject(new Error('asked'))
      overrides.stat = () => Promise.reject(new Error('asked'))
      const bob = { name: 'bob' }
      const claim = await keeper.claim(bob, 'a', Infinity)
      void claim.grow(1e15)
      await claim.prepare()
      claim.settle()
      claim.end()
      expect(await keeper.free(bob, 'a', async () => true)).to.equal(true)
      expect(await keeper.free(bob, 'a', async () => false)).to.equal(false)
    })

    it('are not those with a quota of nothing', async () => {
      const { put } = bookkeeping()
      expect(await refusal(put({ name: 'bob', quota: 0 }, 'a', 1))).to.equal('quota-exceeded')
      await put({ name: 'bob', quota: 0 }, 'a', 0)
    })
  })
})
