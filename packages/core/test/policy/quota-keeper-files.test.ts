import { expect } from 'chai'
import type { Customer } from '../../src/model/customer.ts'
import type { QuotaClaim } from '../../src/policy/quota-claim.ts'
import { chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { bookkeeping, type Bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', maxFiles: 3 }

/** How many more files the customer may begin to upload, up to twenty. */
async function filesLeft({ keeper }: Bookkeeping, customer: Customer): Promise<number> {
  const claims: QuotaClaim[] = []
  try {
    while (claims.length < 20) {
      claims.push(await keeper.claim(customer, `another ${claims.length}`))
    }
    return claims.length
  } catch {
    return claims.length
  } finally {
    for (const claim of claims) claim.end()
  }
}

describe('createQuotaKeeper with a number of files', () => {
  it('lets so many files be stored, and none beyond, however small', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 0)
    expect(await refusal(books.put(alice, 'd', 0))).to.equal('quota-exceeded')
    expect((await books.store.usage('alice')).blobs).to.equal(3)
  })

  it('says which number', async () => {
    const { keeper } = bookkeeping()
    const error = await rejection(keeper.claim({ name: 'alice', maxFiles: 0 }, 'a'))
    const message = 'Quota exceeded: 0 of 0 files are stored or being stored'
    expect(error).to.include({ message })
  })

  it('counts what the store keeps already', async () => {
    const books = bookkeeping()
    await books.store.put({ customer: 'alice', name: 'old' }, chunks(1))
    expect(await filesLeft(books, alice)).to.equal(2)
  })

  it('counts uploads under way, before their first byte', async () => {
    const books = bookkeeping()
    const claims = await Promise.all(['a', 'b', 'c'].map((name) => books.keeper.claim(alice, name)))
    expect(await refusal(books.keeper.claim(alice, 'd'))).to.equal('quota-exceeded')
    claims[0]?.end()
    expect(await filesLeft(books, alice)).to.equal(1)
    for (const claim of claims) claim.end()
    expect(await filesLeft(books, alice)).to.equal(3)
  })

  it('lets only one of many uploads at once have the last place', async () => {
    const books = bookkeeping()
    await books.put(alice, 'a', 1)
    await books.put(alice, 'b', 1)
    const names = Array.from({ length: 20 }, (_, at) => `race ${at}`)
    const outcomes = await Promise.allSettled(names.map((name) => books.put(alice, name, 1)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
    expect((await books.store.usage('alice')).blobs).to.equal(3)
  })

  it('lets files be replaced when there is no place left, in whatever number', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 1)
    await Promise.all([
      books.put(alice, 'a', 2),
      books.put(alice, 'a', 3),
      books.put(alice, 'b', 2),
    ])
    expect((await books.store.usage('alice')).blobs).to.equal(3)
    expect(await refusal(books.put(alice, 'd', 0))).to.equal('quota-exceeded')
  })

  it('lets files be replaced when there are more than the number, since that was lowered', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 1)
    const lowered = { name: 'alice', maxFiles: 1 }
    await books.put(lowered, 'a', 2)
    expect(await books.remove(lowered, 'b')).to.equal(true)
    expect(await refusal(books.put(lowered, 'b', 0))).to.equal('quota-exceeded')
  })

  it('gives the place of a deleted file to another', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 1)
    expect(await books.remove(alice, 'a')).to.equal(true)
    expect(await books.remove(alice, 'a')).to.equal(false)
    expect(await filesLeft(books, alice)).to.equal(1)
    await books.put(alice, 'd', 1)
    expect(await filesLeft(books, alice)).to.equal(0)
  })

  it('gives no place back twice for an upload that failed', async () => {
    const books = bookkeeping()
    await books.put(alice, 'a', 1)
    const claim = await books.keeper.claim(alice, 'b')
    claim.end()
    claim.end()
    expect(await filesLeft(books, alice)).to.equal(2)
  })

  it('refuses a replacement in the end when its file is gone, and another has taken the place', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 1)
    const claim = await books.keeper.claim(alice, 'a')
    await books.remove(alice, 'a')
    await books.put(alice, 'd', 1)
    expect(await refusal(claim.prepare())).to.equal('quota-exceeded')
    claim.end()
    expect(await filesLeft(books, alice)).to.equal(0)
    expect((await books.store.usage('alice')).blobs).to.equal(3)
  })

  it('takes the place of a replaced file that is gone when it is free', async () => {
    const books = bookkeeping()
    for (const name of ['a', 'b', 'c']) await books.put(alice, name, 1)
    const claim = await books.keeper.claim(alice, 'a')
    await books.remove(alice, 'a')
    await claim.prepare()
    expect(await filesLeft(books, alice)).to.equal(0)
    await books.store.put({ customer: 'alice', name: 'a' }, chunks())
    claim.settle()
    claim.end()
    expect(await filesLeft(books, alice)).to.equal(0)
    expect(await books.remove(alice, 'a')).to.equal(true)
    expect(await filesLeft(books, alice)).to.equal(1)
  })

  it('gives a place back when two uploads of a new name turn out to be one file', async () => {
    const books = bookkeeping()
    const claims = await Promise.all([
      books.keeper.claim(alice, 'a'),
      books.keeper.claim(alice, 'a'),
    ])
    expect(await filesLeft(books, alice)).to.equal(1)
    const publish = async (claim: QuotaClaim) => {
      await claim.prepare()
      await turn()
      await books.store.put({ customer: 'alice', name: 'a' }, chunks(1))
      claim.settle()
      claim.end()
    }
    await Promise.all(claims.map(publish))
    expect(await filesLeft(books, alice)).to.equal(2)
  })

  it('looks up what became of a publication that failed', async () => {
    for (const isStored of [true, false]) {
      const books = bookkeeping()
      const claim = await books.keeper.claim(alice, 'a')
      await claim.prepare()
      if (isStored) await books.store.put({ customer: 'alice', name: 'a' }, chunks(1))
      claim.end()
      expect(await filesLeft(books, alice), `stored: ${isStored}`).to.equal(isStored ? 2 : 3)
    }
  })

  it('expects the worse where that cannot be looked up, until the next count', async () => {
    const books = bookkeeping()
    const claim = await books.keeper.claim(alice, 'a')
    const other = await books.keeper.claim(alice, 'b')
    await claim.prepare()
    books.overrides.stat = () => Promise.reject(new Error('down'))
    claim.end()
    await turn()
    delete books.overrides.stat
    expect(await filesLeft(books, alice)).to.equal(1)
    other.end()
    expect(await filesLeft(books, alice)).to.equal(3)
  })

  it('counts a file beside others from when its name is given to them, until the next count', async () => {
    const books = bookkeeping()
    await books.put(alice, 'a', 1)
    const claim = await books.keeper.claim(alice, 'a')
    await claim.prepare()
    claim.yieldName()
    expect(await filesLeft(books, alice)).to.equal(1)
    const other = await books.keeper.claim(alice, 'b')
    await books.store.put({ customer: 'alice', name: 'a' }, chunks(1))
    claim.settle()
    claim.end()
    expect(await filesLeft(books, alice)).to.equal(0)
    other.end()
    expect(await filesLeft(books, alice)).to.equal(2)
  })

  it('keeps the place for an upload whose process has died, until its outcome is known', async () => {
    const books = bookkeeping()
    const other = await books.keeper.claim(alice, 'b')
    const claim = await books.keeper.claim(alice, 'a')
    await claim.prepare()
    const over = Promise.withResolvers<undefined>()
    claim.endAfter(over.promise)
    expect(await filesLeft(books, alice)).to.equal(1)
    over.resolve(undefined)
    await turn()
    expect(await filesLeft(books, alice)).to.equal(2)
    other.end()
  })

  it('is counted anew within seconds when few places are left, and seldom before', async () => {
    const books = bookkeeping()
    const many = { name: 'alice', maxFiles: 10 }
    await books.put(many, 'a', 1)
    await books.store.put({ customer: 'alice', name: 'of another server' }, chunks(1))
    books.pass(2_000)
    await books.put(many, 'b', 1)
    expect(books.counts()).to.equal(1)
    for (let at = 0; at < 7; at++) await books.put(many, `more ${at}`, 1)
    books.pass(2_000)
    expect(await filesLeft(books, many)).to.equal(0)
    expect(books.counts()).to.equal(2)
  })

  it('holds beside a quota of bytes, each for itself', async () => {
    const books = bookkeeping()
    const both = { name: 'alice', quota: 10, maxFiles: 2 }
    await books.put(both, 'a', 9)
    expect(await refusal(books.put(both, 'b', 2))).to.equal('quota-exceeded')
    await books.put(both, 'b', 1)
    expect(await refusal(books.put(both, 'c', 0))).to.equal('quota-exceeded')
    expect(await books.remove(both, 'b')).to.equal(true)
    expect(await books.room(both)).to.equal(1)
  })

  it('limits no bytes by itself, reserved ones neither', async () => {
    const { keeper } = bookkeeping()
    const claim = await keeper.claim(alice, 'a', 1e15)
    void claim.grow(1e15)
    expect(claim.reserve(1_000)).to.equal(1_000)
    void claim.grow(1e15)
    claim.end()
  })

  it('of nothing lets nothing be stored', async () => {
    const { put } = bookkeeping()
    expect(await refusal(put({ name: 'alice', maxFiles: 0 }, 'a', 0))).to.equal('quota-exceeded')
  })
})
