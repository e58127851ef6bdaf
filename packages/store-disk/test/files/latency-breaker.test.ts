import { expect } from 'chai'
import { createLatencyBreaker, trippedBreaker } from '../../src/files/latency-breaker.ts'

/** A breaker on a clock in milliseconds that stands still unless a call moves it. */
function openBreaker() {
  const clock = { time: 1_000_000 }
  const call = (ms: number) => () => {
    clock.time += ms
    return 'made'
  }
  return { clock, call, breaker: createLatencyBreaker(0.5, () => clock.time) }
}

describe('createLatencyBreaker', () => {
  it('makes calls, and stays closed while they take no more than half a millisecond', () => {
    const { breaker, call } = openBreaker()
    for (let count = 0; count < 1000; count++) {
      expect(breaker.time(call(0.5))).to.equal('made')
      expect(breaker.isTripped()).to.equal(false)
    }
  })

  it('bears a slow call among many quick ones', () => {
    const { breaker, call } = openBreaker()
    for (let count = 0; count < 1000; count++) {
      breaker.time(call(count % 50 === 0 ? 5 : 0.02))
      expect(breaker.isTripped()).to.equal(false)
    }
  })

  it('trips for twenty times as long as a slow call took', () => {
    const { clock, breaker, call } = openBreaker()
    expect(breaker.time(call(10))).to.equal('made')
    expect(breaker.isTripped()).to.equal(true)
    clock.time += 199
    expect(breaker.isTripped()).to.equal(true)
    clock.time += 2
    expect(breaker.isTripped()).to.equal(false)
  })

  it('trips when many calls are slower than they should be, and begins anew', () => {
    const { clock, breaker, call } = openBreaker()
    const untilTripped = () => {
      let count = 0
      while (!breaker.isTripped() && count < 100) {
        breaker.time(call(1))
        count++
      }
      return count
    }
    const first = untilTripped()
    expect(first).to.be.within(5, 16)
    clock.time += 1000
    expect(breaker.isTripped()).to.equal(false)
    expect(untilTripped()).to.equal(first)
  })

  it('passes on what a call throws, and looks at its time, too', () => {
    const { clock, breaker, call } = openBreaker()
    const failure = new Error('EIO')
    const failSlowly = () => {
      call(10)()
      throw failure
    }
    expect(() => breaker.time(failSlowly)).to.throw(failure)
    clock.time += 199
    expect(breaker.isTripped()).to.equal(true)
  })
})

describe('trippedBreaker', () => {
  it('is never closed', () => {
    expect(trippedBreaker.time(() => 'made')).to.equal('made')
    expect(trippedBreaker.isTripped()).to.equal(true)
  })
})
