import { expect } from 'chai'
import { chunks } from '../content.ts'
import { refusal, thrownCode } from '../rejection.ts'
import { bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper', () => {
  describe('reservations', () => {
    it('take room at once, for exactly what was announced', async () => {
      const { keeper, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a', 70)
      expect(await room(alice)).to.equal(30)
      claim.end()
      expect(await room(alice)).to.equal(100)
    })

    it('are refused when they do not fit, and take nothing then', async () => {
      const { keeper, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a', 70)
      expect(await refusal(keeper.claim(alice, 'b', 31))).to.equal('quota-exceeded')
      expect(await room(alice)).to.equal(30)
      claim.end()
      const whole = await keeper.claim(alice, 'b', 100)
      whole.end()
    })

    it('of parallel uploads refuse the one that does not fit, and none of the others', async () => {
      const { keeper } = bookkeeping()
      const claims = await Promise.allSettled(
        ['a', 'b', 'c', 'd'].map((name) => keeper.claim(alice, name, 33)),
      )
      expect(claims.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
      ])
    })

    it('are what arrives is taken from', async () => {
      const { keeper, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a', 70)
      void claim.grow(30)
      void claim.grow(40)
      expect(await room(alice)).to.equal(30)
      void claim.grow(10)
      expect(await room(alice)).to.equal(20)
      expect(thrownCode(() => claim.grow(21))).to.equal('quota-exceeded')
      claim.end()
      expect(await room(alice)).to.equal(100)
    })

    it('ahead of what arrives take a sixty-fourth of what is free, and what is missing only', async () => {
      const { keeper, room } = bookkeeping()
      const rich = { name: 'alice', quota: 6400 }
      const claim = await keeper.claim(rich, 'a')
      expect(claim.reserve(70)).to.equal(70)
      expect(claim.reserve(1000)).to.equal(70 + 98)
      void claim.grow(100)
      expect(claim.reserve(68)).to.equal(68)
      expect(await room(rich)).to.equal(6400 - 168)
      expect(claim.reserve(0)).to.equal(68)
      claim.end()
      const small = await keeper.claim(alice, 'b')
      void small.grow(37)
      expect(small.reserve(1000)).to.equal(0)
      small.end()
      expect(await room(alice)).to.equal(100)
    })

    it('give back what never came when the content ends', async () => {
      const { keeper, store, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a', 70)
      void claim.grow(30)
      await claim.prepare()
      expect(await room(alice)).to.equal(70)
      await store.put({ customer: 'alice', name: 'a' }, chunks(30))
      claim.settle()
      claim.end()
      expect(await room(alice)).to.equal(70)
    })

    it('give nothing back twice when the upload is given up while its name is looked up', async () => {
      const { keeper, store, overrides, room } = bookkeeping()
      const claim = await keeper.claim(alice, 'a', 70)
      void claim.grow(30)
      overrides.stat = (key) => {
        claim.end()
        return store.stat(key)
      }
      await claim.prepare()
      delete overrides.stat
      const other = await keeper.claim(alice, 'b', 100)
      expect(await room(alice)).to.equal(0)
      other.end()
    })

    it('count on the room of the file that is replaced', async () => {
      const { keeper, put } = bookkeeping()
      await put(alice, 'a', 80)
      const claim = await keeper.claim(alice, 'a', 100)
      claim.end()
      expect(await refusal(keeper.claim(alice, 'a', 101))).to.equal('quota-exceeded')
      expect(await refusal(keeper.claim(alice, 'b', 21))).to.equal('quota-exceeded')
    })
  })
})
