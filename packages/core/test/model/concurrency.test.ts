import { getEventListeners } from 'node:events'
import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createKeyedLock,
  lockUnlessAborted,
  createKeyedCounter,
  abortable,
} from '../../src/model/concurrency.ts'
import { arrayOf, chunks, failing, pulled, textOf } from '../content.ts'
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

describe('createKeyedCounter', () => {
  it('counts each key for itself, from 0', () => {
    const counter = createKeyedCounter()
    expect(counter.count('a')).to.equal(0)
    expect([counter.change('a', 1), counter.change('a', 2), counter.change('b', 1)]).to.deep.equal([
      1, 3, 1,
    ])
    expect([counter.count('a'), counter.count('b')]).to.deep.equal([3, 1])
    expect(counter.change('a', -2)).to.equal(1)
  })

  it('sets a count', () => {
    const counter = createKeyedCounter()
    counter.change('a', 1)
    counter.set('a', 7)
    expect(counter.count('a')).to.equal(7)
  })

  it('takes any text for a key', () => {
    const counter = createKeyedCounter()
    for (const key of ['', '__proto__', 'constructor']) {
      expect(counter.count(key)).to.equal(0)
      expect(counter.change(key, 1)).to.equal(1)
    }
  })

  it('keeps nothing of what is none', () => {
    const counter = createKeyedCounter()
    for (const key of ['a', 'b', 'c']) counter.change(key, 1)
    counter.change('a', -1)
    counter.set('b', 0)
    expect(counter.keys()).to.deep.equal(['c'])
    expect(counter.count('a')).to.equal(0)
  })

  it('may be changed while its keys are gone through', () => {
    const counter = createKeyedCounter()
    for (const key of ['a', 'b', 'c']) counter.change(key, 1)
    for (const key of counter.keys()) counter.set(key, 0)
    expect(counter.keys()).to.deep.equal([])
  })
})

describe('abortable', () => {
  it('is the content itself without a signal', () => {
    const content = chunks('a')
    expect(abortable(content, undefined)).to.equal(content)
  })

  it('yields what the content yields, and leaves no listener', async () => {
    const { signal } = new AbortController()
    expect(await textOf(abortable(chunks('a', '', 'bc'), signal))).to.equal('abc')
    expect(getEventListeners(signal, 'abort')).to.have.length(0)
  })

  it('throws what the content throws, and leaves no listener', async () => {
    const { signal } = new AbortController()
    const error = new Error('broken')
    const content = abortable(failing(error, 'a'), signal)
    expect(await rejection(arrayOf(content))).to.equal(error)
    expect(getEventListeners(signal, 'abort')).to.have.length(0)
  })

  it('throws what a content throws that does not even return a promise', async () => {
    const error = new Error('broken')
    const content = {
      [Symbol.asyncIterator]: () => ({
        next: (): Promise<IteratorResult<Uint8Array>> => {
          throw error
        },
      }),
    }
    const { signal } = new AbortController()
    expect(await rejection(arrayOf(abortable(content, signal)))).to.equal(error)
  })

  it('throws the reason before it reads when the signal has aborted already', async () => {
    const content = pulled()
    const reason = new Error('too late')
    const read = arrayOf(abortable(content, AbortSignal.abort(reason)))
    expect(await rejection(read)).to.equal(reason)
    expect(content.asked()).to.equal(0)
    expect(content.closed()).to.equal(1)
  })

  it('throws the reason at once while the content is stalled, and closes it', async () => {
    const content = pulled()
    const abort = new AbortController()
    const read = arrayOf(abortable(content, abort.signal))
    await turn()
    content.give(1)
    await turn()
    expect(content.asked()).to.equal(2)
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await rejection(read)).to.equal(reason)
    expect(content.closed()).to.equal(1)
    expect(getEventListeners(abort.signal, 'abort')).to.have.length(0)
  })

  it('throws the reason when the signal aborts while the consumer is busy', async () => {
    const content = pulled()
    const abort = new AbortController()
    const iterator = abortable(content, abort.signal)[Symbol.asyncIterator]()
    const first = iterator.next()
    await turn()
    content.give(1)
    await first
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await rejection(iterator.next())).to.equal(reason)
    expect(content.asked()).to.equal(1)
    expect(content.closed()).to.equal(1)
  })

  it('swallows an error that the abandoned content meets later', async () => {
    const stalled = Promise.withResolvers<IteratorResult<Uint8Array>>()
    const content = {
      [Symbol.asyncIterator]: () => ({
        next: () => stalled.promise,
        return: () => Promise.reject(new Error('cannot be closed')),
      }),
    }
    const abort = new AbortController()
    const read = arrayOf(abortable(content, abort.signal))
    await turn()
    abort.abort(new Error('enough'))
    expect(await rejection(read)).to.have.property('message', 'enough')
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    stalled.reject(new Error('broken'))
    await turn()
    await turn()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).to.deep.equal([])
  })

  it('closes the content and leaves no listener when the consumer stops early', async () => {
    const content = pulled()
    const { signal } = new AbortController()
    const iterator = abortable(content, signal)[Symbol.asyncIterator]()
    const first = iterator.next()
    await turn()
    content.give(1)
    await first
    await iterator.return?.()
    expect(content.closed()).to.equal(1)
    expect(getEventListeners(signal, 'abort')).to.have.length(0)
  })

  it('does nothing when the signal aborts after the end', async () => {
    const abort = new AbortController()
    const read = arrayOf(abortable(chunks('a'), abort.signal))
    await read
    abort.abort()
    expect(await read).to.have.length(1)
  })

  it('keeps nothing for the chunks that have gone by', async () => {
    const { signal } = new AbortController()
    const chunk = new Uint8Array(1)
    async function* many() {
      for (let n = 0; n < 200_000; n++) yield chunk
    }
    let read = 0
    let before = 0
    let after = 0
    for await (const _ of abortable(many(), signal)) {
      read++
      if (read === 10_000) before = garbageFreeHeap()
      if (read === 200_000) after = garbageFreeHeap()
    }
    expect(after - before).to.be.below(4 * 1024 * 1024)
  })
})
