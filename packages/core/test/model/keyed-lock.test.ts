import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import { createKeyedLock, lockUnlessAborted } from '../../src/model/keyed-lock.ts'
import { garbageFreeHeap } from '../garbage-free-heap.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

describe('createKeyedLock', () => {
  it('lets a second holder in only when the first has released', async () => {
    const lock = createKeyedLock()
    const release = await lock('a')
    const events: string[] = []
    const second = lock('a').then((releaseSecond) => {
      events.push('second in')
      return releaseSecond
    })
    await turn()
    events.push('first out')
    release()
    const releaseSecond = await second
    expect(events).to.deep.equal(['first out', 'second in'])
    releaseSecond()
  })

  it('lets holders in one at a time, in the order they asked', async () => {
    const lock = createKeyedLock()
    const order: number[] = []
    let inside = 0
    const hold = async (id: number) => {
      const release = await lock('a')
      expect(++inside).to.equal(1)
      order.push(id)
      await turn()
      inside--
      release()
    }
    await Promise.all([0, 1, 2, 3, 4].map(hold))
    expect(order).to.deep.equal([0, 1, 2, 3, 4])
  })

  it('does not make the holder of one key wait for another key', async () => {
    const lock = createKeyedLock()
    await lock('a')
    const release = await lock('b')
    release()
  })

  it('can be taken again after all have gone', async () => {
    const lock = createKeyedLock()
    for (let round = 0; round < 3; round++) {
      const release = await lock('a')
      release()
      await turn()
    }
  })

  it('keeps nothing for keys that no one holds', async () => {
    const lock = createKeyedLock()
    const before = garbageFreeHeap()
    for (let n = 0; n < 50_000; n++) (await lock(`customer/${n}`))()
    await turn()
    expect(garbageFreeHeap() - before).to.be.below(2 * 1024 * 1024)
    // Reachable until here, whatever the engine makes of it.
    await lock('a')
  })

  it('lets no one in early when a holder releases twice', async () => {
    const lock = createKeyedLock()
    const first = await lock('a')
    const second = lock('a')
    let third = false
    first()
    first()
    const release = await second
    first()
    const waiting = lock('a').then((releaseThird) => {
      third = true
      releaseThird()
    })
    await turn()
    expect(third).to.equal(false)
    release()
    await waiting
  })

  it('excludes in any interleaving', async () => {
    const lock = createKeyedLock()
    const random = seeded(3)
    const inside = new Map<string, number>()
    const hold = async () => {
      const key = String(random(3))
      for (let wait = random(3); wait > 0; wait--) await turn()
      const release = await lock(key)
      inside.set(key, (inside.get(key) ?? 0) + 1)
      expect(inside.get(key)).to.equal(1)
      for (let wait = random(3); wait > 0; wait--) await turn()
      inside.set(key, 0)
      release()
    }
    await Promise.all(Array.from({ length: 200 }, hold))
  })
})

describe('lockUnlessAborted', () => {
  it('takes the lock, and listens to its signal no longer', async () => {
    const lock = createKeyedLock()
    const { signal } = new AbortController()
    for (const one of [undefined, signal]) (await lockUnlessAborted(lock, 'a', one))()
    ;(await lock('a'))()
  })

  it('rejects as soon as its signal aborts, and holds no one up', async () => {
    const lock = createKeyedLock()
    const release = await lock('a')
    const reason = new Error('left')
    const leaving = new AbortController()
    const waiting = rejection(lockUnlessAborted(lock, 'a', leaving.signal))
    const next = lock('a')
    leaving.abort(reason)
    expect(await waiting).to.equal(reason)
    expect(await rejection(lockUnlessAborted(lock, 'a', leaving.signal))).to.equal(reason)
    release()
    ;(await next)()
  })
})
