import { getEventListeners } from 'node:events'
import { expect } from 'chai'
import { abortable } from '../../src/model/abortable.ts'
import { arrayOf, chunks, failing, pulled, textOf } from '../content.ts'
import { garbageFreeHeap } from '../garbage-free-heap.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

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
