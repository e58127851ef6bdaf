import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import {
  createFaults,
  type Faults,
  type Fault,
  injectFaults,
  forEveryFault,
} from '../../src/faults.ts'
import { chunks, recorded } from '../../src/support/content.ts'
import { rejection, collect, expectBlob } from '../../src/support/expectations.ts'

const error = new Error('on purpose')
const read = (faults: Faults) => faults.call('read', async () => 'value')
const add = (faults: Faults) => faults.call('add', async () => 'value')

describe('createFaults', () => {
  it('lets everything pass without a plan, and counts', async () => {
    const faults = createFaults()
    expect(await read(faults)).to.equal('value')
    expect(faults.steps()).to.deep.equal([
      { method: 'read', moment: 'call' },
      { method: 'read', moment: 'answer' },
    ])
  })

  it('strikes the nth step, and none behind it', async () => {
    const faults = createFaults()
    faults.plan({ nth: 3, error })
    await read(faults)
    expect(await rejection(read(faults))).to.equal(error)
    expect(await read(faults)).to.equal('value')
    expect(faults.struck()).to.deep.equal([{ method: 'read', moment: 'call' }])
  })

  it('counts only the steps that were asked for', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2, only: { method: 'add', moment: 'answer' }, error })
    await read(faults)
    await add(faults)
    await read(faults)
    expect(await rejection(add(faults))).to.equal(error)
  })

  it('strikes every step from the nth on in an outage, until there is another plan', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2, lasting: true, error })
    for (let times = 0; times < 3; times++) {
      expect(await rejection(read(faults))).to.equal(error)
    }
    expect(faults.struck()).to.have.length(3)
    faults.plan()
    expect(await read(faults)).to.equal('value')
    expect(faults.struck()).to.deep.equal([])
  })

  it('fails with an error that names the step, unless it is given one', async () => {
    const faults = createFaults()
    faults.plan({ nth: 2 })
    expect(String(await rejection(read(faults)))).to.equal(
      'Error: A fault on purpose: read, answer',
    )
  })

  it('holds a step until it is released, and then goes on', async () => {
    const faults = createFaults()
    const gate = Promise.withResolvers<undefined>()
    faults.plan({ nth: 1, hold: gate.promise })
    const reading = read(faults)
    expect(faults.underWay()).to.equal(1)
    gate.resolve(undefined)
    expect(await reading).to.equal('value')
    expect(faults.underWay()).to.equal(0)
  })

  it('fails a step that was held, where an error is given', async () => {
    const faults = createFaults()
    faults.plan({ nth: 1, hold: Promise.resolve(), error })
    expect(await rejection(read(faults))).to.equal(error)
  })

  it('ends what is held when the signal aborts', async () => {
    const faults = createFaults()
    faults.plan({ nth: 1, lasting: true, hold: new Promise(() => {}) })
    const abort = new AbortController()
    const reading = rejection(faults.call('read', async () => 'value', abort.signal))
    abort.abort(error)
    expect(await reading).to.equal(error)
    expect(await rejection(faults.call('read', async () => 'value', abort.signal))).to.equal(error)
    expect(faults.underWay()).to.equal(0)
  })
})

const key = { customer: 'alice', name: 'a' }
const old = Buffer.from('old')
const unavailable = new FileServiceError('store-unavailable', 'on purpose')

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
        faults.plan({ nth: index + 1, error: unavailable })
        expect(await rejection(call(store))).to.equal(unavailable)
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
      expect(await rejection(store.put(key, given))).to.equal(unavailable)
      expect(given.isClosed()).to.equal(true)
      return { inner, given }
    }

    it('fails before, in and right behind the content without a trace', async () => {
      for (const nth of [1, 2, 3, 4]) {
        const { inner, given } = await putUnder({ nth, error: unavailable })
        expect(given.asked()).to.equal(nth - 1)
        await expectBlob(inner, key, old)
      }
    })

    it('stores the blob and loses the answer', async () => {
      const { inner } = await putUnder({ nth: 1, only: { moment: 'answer' }, error: unavailable })
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
        abort.abort(unavailable)
        expect(await put).to.equal(unavailable)
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
    faults.plan({ nth: 2, error: unavailable })
    expect(await rejection(injectFaults(watched, faults).open(key))).to.equal(unavailable)
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

const twoCalls = async (fault: Fault) => {
  const faults = createFaults()
  faults.plan(fault)
  await faults.call('read', async () => {}).catch(() => {})
  await faults.call('add', async () => {}).catch(() => {})
}

describe('forEveryFault', () => {
  it('runs a scenario under each fault in turn, and once without', async () => {
    let runs = 0
    const struck = await forEveryFault(async (fault) => {
      runs++
      expect(fault.nth).to.equal(runs)
      await twoCalls(fault)
    })
    expect(runs).to.equal(5)
    expect(struck.map(({ method, moment }) => `${method} ${moment}`)).to.deep.equal([
      'read call',
      'read answer',
      'add call',
      'add answer',
    ])
  })

  it('hands the options on to each run', async () => {
    const error = new Error('on purpose')
    const only = { moment: 'answer' } as const
    const struck = await forEveryFault(
      async (fault) => {
        expect(fault).to.include({ error, only, lasting: true })
        await twoCalls(fault)
      },
      { error, only, lasting: true },
    )
    expect(struck.map(({ method }) => method)).to.deep.equal(['read', 'add'])
  })

  it('fails with the step and the cause when a run fails', async () => {
    const cause = new Error('The books are wrong')
    const failure = await rejection(
      forEveryFault(async (fault) => {
        await twoCalls(fault)
        if (fault.nth === 3) throw cause
      }),
    )
    expect(failure).to.include({ cause })
    expect(String(failure)).to.contain('Under fault 3 (add, call): Error: The books are wrong')
  })

  it('fails when the run without a fault fails', async () => {
    const failure = await rejection(
      forEveryFault(async (fault) => {
        await twoCalls(fault)
        if (fault.nth === 5) throw new Error('no')
      }),
    )
    expect(String(failure)).to.contain('Under fault 5 (not met)')
  })

  it('fails when the scenario meets no fault at all', async () => {
    const failure = await rejection(forEveryFault(async () => {}))
    expect(String(failure)).to.contain('meets no fault')
  })
})
