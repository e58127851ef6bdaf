import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { collect, expectBlob, rejection } from '../../src/support/expectations.ts'
import { createFaults, type Fault } from '../../src/faults/faults.ts'
import { injectFaults } from '../../src/faults/inject-faults.ts'
import { chunks, recorded } from '../../src/support/sources.ts'

const key = { customer: 'alice', name: 'a' }
const old = Buffer.from('old')
const error = new FileServiceError('store-unavailable', 'on purpose')

async function openFaulty() {
  const inner = createMemoryBlobStore()
  await inner.put(key, chunks(old))
  const faults = createFaults()
  return { inner, faults, store: injectFaults(inner, faults) }
}

const content = () => recorded(chunks(Buffer.from('ne'), Buffer.from('w')))

/** Every method, to its end. */
const calls: Readonly<Record<string, (store: BlobStore) => Promise<unknown>>> = {
  put: (store) => store.put(key, content()),
  open: async (store) => {
    const blob = await store.open(key)
    try {
      return await collect(blob?.content ?? chunks())
    } finally {
      await blob?.close()
    }
  },
  stat: (store) => store.stat(key),
  delete: (store) => store.delete(key),
  list: (store) => collect(store.list('alice')),
  listDetails: (store) => collect(store.listDetails('alice')),
  usage: (store) => store.usage('alice'),
  customers: (store) => collect(store.customers()),
}

const moments: Readonly<Record<string, string>> = {
  put: 'call item item end answer',
  open: 'call answer item end close',
  stat: 'call answer',
  delete: 'call answer',
  list: 'call item end',
  listDetails: 'call item end',
  usage: 'call answer',
  customers: 'call item end',
}

describe('injectFaults', () => {
  for (const [method, call] of Object.entries(calls)) {
    it(`passes the steps of ${method} in order`, async () => {
      const { faults, store } = await openFaulty()
      await call(store)
      expect(
        faults
          .steps()
          .map((step) => step.moment)
          .join(' '),
      ).to.equal(moments[method])
      expect(faults.steps().every((step) => step.method === method)).to.equal(true)
      expect(faults.struck()).to.deep.equal([])
      expect(faults.underWay()).to.equal(0)
    })

    it(`fails each step of ${method} with that very error, and holds nothing`, async () => {
      const steps = (moments[method] ?? '').split(' ')
      for (const [index, moment] of steps.entries()) {
        const { faults, store } = await openFaulty()
        faults.plan({ nth: index + 1, error })
        expect(await rejection(call(store))).to.equal(error)
        expect(faults.struck()).to.deep.equal([{ method, moment }])
        expect(faults.underWay()).to.equal(0)
      }
    })
  }

  describe('put', () => {
    const putUnder = async (fault: Fault) => {
      const { inner, faults, store } = await openFaulty()
      faults.plan(fault)
      const given = content()
      expect(await rejection(store.put(key, given))).to.equal(error)
      expect(given.isClosed()).to.equal(true)
      return { inner, given }
    }

    it('fails before, in and right behind the content without a trace', async () => {
      for (const nth of [1, 2, 3, 4]) {
        const { inner, given } = await putUnder({ nth, error })
        expect(given.asked()).to.equal(nth - 1)
        await expectBlob(inner, key, old)
      }
    })

    it('stores the blob and loses the answer', async () => {
      const { inner } = await putUnder({ nth: 1, only: { moment: 'answer' }, error })
      await expectBlob(inner, key, Buffer.from('new'))
    })

    it('held at any step rejects at once when the signal aborts', async () => {
      for (let nth = 1; nth <= 5; nth++) {
        const { faults, store } = await openFaulty()
        const struck = Promise.withResolvers<undefined>()
        const onStrike = () => struck.resolve(undefined)
        faults.plan({ nth, hold: new Promise(() => {}), onStrike })
        const abort = new AbortController()
        const put = rejection(store.put(key, content(), { signal: abort.signal }))
        await struck.promise
        abort.abort(error)
        expect(await put).to.equal(error)
        expect(faults.underWay()).to.equal(0)
      }
    })
  })

  it('closes an opened blob that the caller does not get', async () => {
    const { inner } = await openFaulty()
    let closed = 0
    const watched: BlobStore = {
      ...inner,
      open: async (...args) => {
        const blob = await inner.open(...args)
        return blob && { ...blob, close: async () => void (closed += 1) }
      },
    }
    const faults = createFaults()
    faults.plan({ nth: 2, error })
    expect(await rejection(injectFaults(watched, faults).open(key))).to.equal(error)
    expect(closed).to.equal(1)
  })

  it('ends what is held in the content of a blob when that is closed', async () => {
    const { faults, store } = await openFaulty()
    faults.plan({ nth: 1, only: { moment: 'item' }, hold: new Promise(() => {}) })
    const blob = await store.open(key)
    const reading = rejection(collect(blob!.content))
    await blob!.close()
    expect(await reading).to.be.instanceOf(Error)
    expect(faults.underWay()).to.equal(0)
  })

  it('ends a list that is held when the reader stops', async () => {
    for (const moment of ['call', 'item', 'end'] as const) {
      const { faults, store } = await openFaulty()
      const names = store.list('alice')[Symbol.asyncIterator]()
      if (moment === 'end') await names.next()
      const struck = Promise.withResolvers<undefined>()
      const onStrike = () => struck.resolve(undefined)
      faults.plan({ nth: 1, only: { moment }, hold: new Promise(() => {}), onStrike })
      const next = rejection(names.next())
      await struck.promise
      expect(faults.underWay()).to.equal(1)
      await names.return?.()
      expect(await next).to.be.instanceOf(Error)
      expect(faults.underWay()).to.equal(0)
    }
  })
})
