import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { BlobInfo } from '../../src/ports/blob.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import type { ExpireOptions } from '../../src/use-cases/expire-files.ts'
import { arrayOf, chunks } from '../content.ts'
import { rejection } from '../rejection.ts'

const hour = 3_600_000
const day = 24 * hour

/** A service on a memory store, both with a clock that a test moves on. */
function start({ change = (store: BlobStore) => store, expireAfterMs = 30 * day } = {}) {
  let time = 1_000_000_000_000
  let skew = 0
  const store = change(createMemoryBlobStore(() => new Date(time + skew)))
  const service = createFileService({ store, now: () => time })
  const alice = { name: 'alice', expireAfterMs }
  const files = service.filesOf({ name: 'alice' })
  const names = async () => (await arrayOf(files.list())).flat()
  const expire = async (customer = alice, options?: ExpireOptions) =>
    service.expireFiles?.(customer, options)
  /** Lets time pass, and calls `expireFiles` every hour, as a server does. */
  const pass = async (ms: number, customer = alice) => {
    const outcomes = []
    for (let left = ms; left > 0; left -= hour) {
      time += Math.min(hour, left)
      outcomes.push(await expire(customer))
    }
    return outcomes
  }
  return {
    store,
    service,
    alice,
    files,
    names,
    expire,
    pass,
    wait: (ms: number) => void (time += ms),
    skewStore: (ms: number) => void (skew = ms),
  }
}

const expiredIn = (outcomes: readonly unknown[]) =>
  outcomes.reduce<number>(
    (sum, outcome) => sum + ((outcome as { readonly expired?: number }).expired ?? 0),
    0,
  )

describe('expireFiles', () => {
  it('deletes files so long after their last change, and no other ones', async () => {
    const { files, names, pass, expire } = start()
    await expire()
    await files.upload('a', chunks(3))
    await pass(10 * day)
    await files.upload('b', chunks(3))
    await files.upload('c', chunks(3))
    expect(expiredIn(await pass(20 * day - 1))).to.equal(0)
    expect(await names()).to.deep.equal(['a', 'b', 'c'])
    await files.upload('c', chunks(4))
    expect(expiredIn(await pass(1))).to.equal(1)
    expect(await names()).to.deep.equal(['b', 'c'])
    await pass(10 * day)
    expect(await names()).to.deep.equal(['c'])
  })

  it('reports each file, and frees its bytes in the quota', async () => {
    const { service, alice, pass, expire, wait } = start()
    const files = service.filesOf({ name: 'alice', quota: 5 })
    await expire()
    await files.upload('a', chunks(5))
    await pass(30 * day - hour)
    wait(hour)
    const reported: string[] = []
    const customer = { ...alice, quota: 5 }
    const onExpired = ({ name, size }: BlobInfo) => void reported.push(`${name} of ${size}`)
    expect(await expire(customer, { onExpired })).to.deep.equal({ kind: 'done', expired: 1 })
    expect(reported).to.deep.equal(['a of 5'])
    await files.upload('b', chunks(5))
  })

  it('deletes nothing for a day after a rule is new, and says what will go', async () => {
    const { files, names, wait, expire, pass } = start()
    await files.upload('a', chunks(3))
    wait(100 * day)
    await files.upload('b', chunks(3))
    const first = await expire()
    expect(first).to.deep.equal({
      kind: 'waiting',
      until: new Date(1_000_000_000_000 + 101 * day),
      due: 1,
    })
    expect(expiredIn(await pass(day - 1))).to.equal(0)
    expect(expiredIn(await pass(1))).to.equal(1)
    expect(await names()).to.deep.equal(['b'])
  })

  it('waits for a day again where the rule is shortened, and not where it is lengthened', async () => {
    const { files, names, expire, pass, alice } = start()
    await expire()
    await files.upload('a', chunks(3))
    await pass(20 * day)
    const shorter = { ...alice, expireAfterMs: 10 * day }
    expect(await expire(shorter)).to.include({ kind: 'waiting', due: 1 })
    expect(expiredIn(await pass(day - 1, shorter))).to.equal(0)
    const longer = { ...alice, expireAfterMs: 22 * day }
    await pass(hour, longer)
    expect(await names()).to.deep.equal(['a'])
    await pass(day, longer)
    expect(await names()).to.deep.equal([])
  })

  it('takes a rule that was not applied for three hours for a new one', async () => {
    const { files, expire, pass, wait } = start()
    await expire()
    await files.upload('a', chunks(3))
    await pass(day)
    wait(100 * day)
    expect(await expire()).to.include({ kind: 'waiting', due: 1 })
    expect(expiredIn(await pass(day))).to.equal(1)
  })

  it('applies a rule throughout a call that takes longer than three hours', async () => {
    let pageMs = 0
    const { store, files, names, expire, pass, wait } = start({
      change: (inner) => ({
        ...inner,
        async *listDetails(customer, options) {
          for await (const page of inner.listDetails(customer, options)) {
            for (const file of page) {
              wait(pageMs)
              yield [file]
            }
          }
        },
      }),
    })
    await expire()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await files.upload(name, chunks(3))
    await pass(10 * day)
    for (const name of ['u', 'v', 'w', 'x', 'y']) await files.upload(name, chunks(3))
    await pass(20 * day - hour)
    wait(hour)
    pageMs = hour
    const seen = async () => Number((await store.expiry?.readNote('alice'))?.split(' ')[3])
    const before = await seen()
    expect(await expire()).to.deep.equal({ kind: 'done', expired: 5 })
    expect((await seen()) - before).to.equal(11 * hour)
    expect(await names()).to.deep.equal(['u', 'v', 'w', 'x', 'y'])
    pageMs = 0
    await pass(day)
    expect(expiredIn(await pass(10 * day))).to.equal(5)
  })

  it('deletes no more in a call that was held up for longer than three hours', async () => {
    const { files, names, expire, pass, wait, alice } = start()
    await expire()
    for (const name of ['a', 'b', 'c']) await files.upload(name, chunks(3))
    await pass(30 * day - hour)
    wait(hour)
    const onExpired = () => wait(4 * hour)
    expect(await expire(alice, { onExpired })).to.deep.equal({ kind: 'changed', expired: 1 })
    expect(await names()).to.deep.equal(['b', 'c'])
    expect(await expire()).to.include({ kind: 'waiting', due: 2 })
  })

  it('asks before each deletion whether the rule is still in force', async () => {
    const { files, names, expire, pass, wait, alice } = start()
    await expire()
    for (const name of ['a', 'b', 'c']) await files.upload(name, chunks(3))
    await pass(30 * day - hour)
    wait(hour)
    let left = 1
    const outcome = await expire(alice, { isInForce: async () => left-- > 0 })
    expect(outcome).to.deep.equal({ kind: 'changed', expired: 1 })
    expect(await names()).to.deep.equal(['b', 'c'])
  })

  it('notes no rule again that is no longer in force', async () => {
    const { store, files, expire, wait, alice } = start({
      change: (inner) => ({
        ...inner,
        async *listDetails(customer, options) {
          wait(hour)
          yield* inner.listDetails(customer, options)
        },
      }),
    })
    await files.upload('a', chunks(3))
    const outcome = await expire(alice, { isInForce: () => false })
    expect(outcome).to.deep.equal({ kind: 'changed', expired: 0 })
    const seen = (await store.expiry?.readNote('alice'))?.split(' ')[3]
    expect(seen).to.equal('1000000000000')
  })

  it('deletes no more in a call during which a clock turns out to be wrong', async () => {
    const { files, names, expire, pass, wait, alice, skewStore } = start()
    await expire()
    for (const name of ['a', 'b', 'c']) await files.upload(name, chunks(3))
    await pass(30 * day - hour)
    wait(hour)
    const onExpired = () => {
      skewStore(-hour)
      wait(hour)
    }
    expect(await expire(alice, { onExpired })).to.have.property('kind', 'wrong-clock')
    expect(await names()).to.deep.equal(['b', 'c'])
  })

  it('keeps a rule in force that is noted while its turn does not come', async () => {
    const { service, files, names, alice, expire, wait } = start()
    await expire()
    await files.upload('a', chunks(3))
    const from = new Date(1_000_000_000_000 + day)
    for (let passed = 0; passed < 30 * day; passed += hour) {
      wait(hour)
      expect(await service.noteExpiry?.(alice)).to.deep.equal({ kind: 'noted', from })
    }
    expect(await names()).to.deep.equal(['a'])
    expect(await expire()).to.deep.equal({ kind: 'done', expired: 1 })
  })

  it('says why a rule cannot be noted', async () => {
    const { service, alice, skewStore } = start()
    skewStore(hour)
    const outcome = await service.noteExpiry?.(alice)
    expect(outcome).to.have.property('kind', 'wrong-clock')
    expect(outcome)
      .to.have.property('problem')
      .that.matches(/^the store's clock is at /)
    const none = { name: 'bob' }
    expect(await rejection(service.noteExpiry?.(none) ?? Promise.resolve())).to.be.instanceOf(
      TypeError,
    )
  })

  it('deletes nothing while the clock is behind that of before', async () => {
    const { files, names, expire, pass, wait } = start()
    await expire()
    await files.upload('a', chunks(3))
    await pass(29 * day)
    wait(-10 * day)
    const outcome = await expire()
    expect(outcome).to.have.property('kind', 'wrong-clock')
    expect(outcome)
      .to.have.property('problem')
      .that.matches(/^the clock was at .* before, and is/)
    expect(await expire()).to.have.property('kind', 'waiting')
    expect(expiredIn(await pass(10 * day))).to.equal(0)
    expect(await names()).to.deep.equal(['a'])
    await pass(2 * day)
    expect(await names()).to.deep.equal([])
  })

  it('deletes nothing while the clock is not that of the store', async () => {
    const { files, names, expire, pass, skewStore } = start()
    await expire()
    await files.upload('a', chunks(3))
    skewStore(-hour)
    const outcomes = await pass(40 * day)
    expect(new Set(outcomes.map((outcome) => outcome?.kind))).to.deep.equal(
      new Set(['wrong-clock']),
    )
    expect(await names()).to.deep.equal(['a'])
  })

  it('keeps a file that is replaced between the list and its deletion', async () => {
    let replace = async () => {}
    const { files, names, expire, pass, wait } = start({
      change: (store) => ({
        ...store,
        async *listDetails(customer, options) {
          for await (const page of store.listDetails(customer, options)) {
            await replace()
            yield page
          }
        },
      }),
    })
    await expire()
    await files.upload('a', chunks(3))
    await pass(30 * day - hour)
    wait(hour)
    replace = async () => void (await files.upload('a', chunks(7)))
    expect(await expire()).to.deep.equal({ kind: 'done', expired: 0 })
    expect(await names()).to.deep.equal(['a'])
    expect((await files.stat('a')).size).to.equal(7)
  })

  it('ends when it is aborted, and goes on at the next call', async () => {
    const { files, names, alice, expire, pass, wait } = start()
    await expire()
    for (const name of ['a', 'b', 'c']) await files.upload(name, chunks(3))
    await pass(30 * day - hour)
    wait(hour)
    const stop = new AbortController()
    const onExpired = () => stop.abort(new Error('enough'))
    const error = await rejection(expire(alice, { onExpired, signal: stop.signal }))
    expect(error).to.have.property('message', 'enough')
    expect(await names()).to.deep.equal(['b', 'c'])
    expect(await expire()).to.deep.equal({ kind: 'done', expired: 2 })
  })

  it('begins anew where the note is of another version', async () => {
    const { store, files, expire, pass } = start()
    await expire()
    await files.upload('a', chunks(3))
    await pass(40 * day - hour)
    await files.upload('a', chunks(3))
    await pass(29 * day)
    await store.expiry?.writeNote('alice', '2 something else')
    expect(await expire()).to.have.property('kind', 'waiting')
  })

  it('refuses what is no rule', async () => {
    const { service } = start()
    for (const [expireAfterMs, type] of [
      [undefined, TypeError],
      ['30d', TypeError],
      [3_599_999, RangeError],
      [NaN, RangeError],
      [-1, RangeError],
    ] as const) {
      const customer = { name: 'alice', expireAfterMs: expireAfterMs as number }
      const work = async () => service.expireFiles?.(customer)
      expect(await rejection(work()), String(expireAfterMs)).to.be.instanceOf(type)
    }
  })

  it('is not there where the store cannot', () => {
    const { expiry: _, ...store } = createMemoryBlobStore()
    expect(createFileService({ store })).to.not.have.any.keys('expireFiles', 'noteExpiry')
  })
})
