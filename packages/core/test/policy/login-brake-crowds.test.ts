import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import { createMemoryFailureCounter } from '../../src/memory/index.ts'
import { FileServiceError } from '../../src/model/errors.ts'
import type { FailureCounter } from '../../src/ports/failure-counter.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { crowd, refuseFalse, times } from './crowd.ts'

describe('createLoginBrake, for many attempts at once', () => {
  it('lets no more begin of an address and a name than may fail, and the others wait', async () => {
    const { attempt, end, begun } = crowd()
    const outcomes = times(1000, () => refusal(attempt('alice', '1.1.1.1').then(refuseFalse)))
    await turn()
    expect(begun()).to.equal(10)
    await end(false, 9)
    expect(begun()).to.equal(10)
    await end(false)
    const codes = await Promise.all(outcomes)
    expect(begun()).to.equal(10)
    expect(codes.filter((code) => code === 'invalid-credentials').length).to.equal(10)
    expect(codes.filter((code) => code === 'too-many-attempts').length).to.equal(990)
  })

  it('lets no more begin of an address than may fail, whatever the names', async () => {
    const { attempt, end, begun } = crowd()
    const outcomes = times(1000, (n) => refusal(attempt(`n${n}`, '1.1.1.1').then(refuseFalse)))
    await turn()
    expect(begun()).to.equal(30)
    await end(false, 30)
    await Promise.all(outcomes)
    expect(begun()).to.equal(30)
  })

  it('counts what has failed already', async () => {
    const { attempt, end, begun } = crowd()
    const earlier = times(7, () => attempt('alice', '1.1.1.1'))
    await turn()
    await end(false, 7)
    expect(await Promise.all(earlier)).to.deep.equal(times(7, () => false))
    const outcomes = times(100, () => refusal(attempt('alice', '1.1.1.1').then(refuseFalse)))
    await turn()
    expect(begun()).to.equal(10)
    await end(false, 3)
    await Promise.all(outcomes)
    expect(begun()).to.equal(10)
  })

  it('refuses none of many that are right, in whatever groups they have to go', async () => {
    const { attempt, end, begun, underWay } = crowd()
    const logins = times(64, () => attempt('alice', '1.1.1.1'))
    await turn()
    while (underWay() > 0) await end(true)
    expect(await Promise.all(logins)).to.deep.equal(times(64, () => true))
    expect(begun()).to.equal(64)
  })

  it('lets in a right one among wrong ones as long as failures are allowed', async () => {
    const { attempt, end } = crowd({ failuresPerName: 3 })
    const wrong = times(2, () => attempt('alice', '1.1.1.1'))
    const right = attempt('alice', '1.1.1.1')
    const late = attempt('alice', '1.1.1.1')
    await turn()
    await end(false, 2)
    await end(true)
    expect(await right).to.equal(true)
    await end(true)
    expect(await late).to.equal(true)
    expect(await Promise.all(wrong)).to.deep.equal([false, false])
  })

  it('keeps the order of an address', async () => {
    const { brake } = crowd({ failuresPerName: 1 })
    const order: number[] = []
    await Promise.all(
      times(20, (n) =>
        brake.attempt({ name: 'alice', address: '1.1.1.1' }, async () => {
          order.push(n)
          await turn()
          return true
        }),
      ),
    )
    expect(order).to.deep.equal(times(20, (n) => n))
  })

  it('keeps one of an address waiting for no other address', async () => {
    const { attempt, end, begun } = crowd()
    void times(50, () => attempt('alice', '6.6.6.6').catch(() => {}))
    await turn()
    const customer = attempt('alice', '1.1.1.1')
    await turn()
    expect(begun()).to.equal(11)
    await end(false, 10)
    await end(true)
    expect(await customer).to.equal(true)
  })

  it('lets a thousand addresses have no more at once on a name than one each', async () => {
    const { attempt, begun } = crowd()
    void times(3000, (n) => attempt('alice', `10.0.0.${n % 1000}`).catch(() => {}))
    await turn()
    await turn()
    // The first may have ten under way as long as no other has any.
    expect(begun()).to.be.within(1000, 1009)
  })

  it('keeps a brake that holds meanwhile for those that wait', async () => {
    const { attempt, end, begun } = crowd({ failuresPerName: 2 })
    const first = attempt('alice', '6.6.6.6')
    const second = attempt('alice', '7.7.7.7')
    const waiting = refusal(attempt('alice', '6.6.6.6').then(refuseFalse))
    await turn()
    expect(begun()).to.equal(2)
    await end(false, 2)
    expect(await Promise.all([first, second])).to.deep.equal([false, false])
    expect(await waiting).to.equal('too-many-attempts')
  })

  it('gives a place free that could not be verified, and counts no failure', async () => {
    const { attempt, end, begun } = crowd({ failuresPerName: 1 })
    const down = new Error('down')
    const failing = times(5, () => rejection(attempt('alice', '1.1.1.1')))
    const last = attempt('alice', '1.1.1.1')
    await turn()
    for (const one of failing) {
      await end(down)
      expect(await one).to.equal(down)
    }
    await end(true)
    expect(await last).to.equal(true)
    expect(begun()).to.equal(6)
  })

  it('refuses an address that has others look at its guesses in vain, and no name for it', async () => {
    const busy = new FileServiceError('overloaded', 'Too many wait')
    const { attempt, end, begun } = crowd({ failuresPerAddress: 30, failuresPerName: 10 })
    for (let guess = 0; guess < 30; guess++) {
      const leaving = new AbortController()
      const vain = rejection(attempt('alice', '6.6.6.6', { signal: leaving.signal }))
      await turn()
      if (guess % 2 === 0) leaving.abort()
      const verdict = guess % 2 === 0 ? new Error('gone') : busy
      await end(verdict)
      expect(await vain).to.equal(verdict)
    }
    expect(await refusal(attempt('bob', '6.6.6.6'))).to.equal('too-many-attempts')
    expect(begun()).to.equal(30)
    const customer = attempt('alice', '1.1.1.1')
    await turn()
    await end(true)
    expect(await customer).to.equal(true)
  })

  it('passes over those that were aborted while they waited', async () => {
    const { attempt, end, begun } = crowd({ failuresPerName: 1 })
    const leaving = new AbortController()
    const gone = new Error('gone')
    const first = attempt('alice', '1.1.1.1')
    const aborted = times(100, () =>
      rejection(attempt('alice', '1.1.1.1', { signal: leaving.signal })),
    )
    const last = attempt('alice', '1.1.1.1')
    await turn()
    leaving.abort(gone)
    await end(true)
    expect(await Promise.all(aborted)).to.deep.equal(times(100, () => gone))
    await end(true)
    expect(await Promise.all([first, last])).to.deep.equal([true, true])
    expect(begun()).to.equal(2)
  })

  it('lets only so many of an address wait, and gives their places to others', async () => {
    const { attempt, end, underWay } = crowd({ failuresPerAddress: 2, waitingPerAddress: 3 })
    const logins = times(5, (n) => attempt(`n${n}`, '1.1.1.1'))
    await turn()
    const refused = await rejection(attempt('n5', '1.1.1.1'))
    expect(refused).to.include({ code: 'overloaded', retryAfterMs: 1000 })
    const other = attempt('n0', '2.2.2.2')
    await turn()
    await end(true, 2)
    const late = attempt('n6', '1.1.1.1')
    await turn()
    while (underWay() > 0) await end(true)
    expect(await Promise.all([...logins, other, late])).to.deep.equal(times(7, () => true))
  })

  it('lets only so many wait in all, but ten of each address', async () => {
    const { attempt, end, underWay } = crowd({ failuresPerAddress: 1, waiting: 20 })
    const flood = times(21, (n) => attempt(`n${n}`, '6.6.6.6'))
    await turn()
    expect(await refusal(attempt('n', '6.6.6.6'))).to.equal('overloaded')
    const few = times(11, (n) => attempt(`n${n}`, '1.1.1.1'))
    await turn()
    expect(await refusal(attempt('n', '1.1.1.1'))).to.equal('overloaded')
    while (underWay() > 0) await end(true)
    expect(await Promise.all([...flood, ...few])).to.deep.equal(times(32, () => true))
  })

  it('lets in at once who needs not wait, however many do', async () => {
    const { brake, attempt } = crowd({ failuresPerAddress: 1, waitingPerAddress: 0, waiting: 0 })
    void attempt('alice', '6.6.6.6')
    expect(await refusal(attempt('bob', '6.6.6.6'))).to.equal('overloaded')
    const customer = { name: 'alice', address: '1.1.1.1' }
    expect(await brake.attempt(customer, () => true)).to.equal(true)
  })

  it('lets no more guesses begin in any order of events than in a row', async () => {
    const seed = Date.now() % 1e9
    const random = seeded(seed)
    for (let round = 0; round < 30; round++) {
      const { attempt, end, begun, underWay } = crowd({ counter: slowCounter(random) })
      const outcomes = times(200, (n) =>
        attempt('alice', '1.1.1.1', n % 2 ? { password: 'wrong' } : {}).catch(() => false),
      )
      let isOver = false
      const all = Promise.all(outcomes).then(() => (isOver = true))
      while (!isOver) {
        if (underWay() > 0 && random(2) === 0) await end(false)
        else await turn()
      }
      await all
      expect(begun(), `seed ${seed}`).to.equal(10)
    }
  })
})

/** A counter whose answers take some turns, and tell what was true at some time between. */
function slowCounter(random: (below: number) => number): FailureCounter {
  const counter = createMemoryFailureCounter({ windowMs: 60_000, now: () => 0 })
  const pass = async () => {
    while (random(5) < 2) await turn()
  }
  return {
    async read(key) {
      await pass()
      const count = await counter.read(key)
      await pass()
      return count
    },
    async add(key) {
      await pass()
      await counter.add(key)
      await pass()
    },
  }
}
