import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { createLatencyBreaker, trippedBreaker, threadClock } from '../../src/files/file-calls.ts'

/** A breaker on a clock in milliseconds that stands still unless a call moves it. */
function openBreaker() {
  const clock = { time: 1_000_000, lost: 50_000, asked: 0, lostWhenAsked: 0 }
  /** Takes `ms` of the disk, and stands still for `lost` more since another has the processor. */
  const call =
    (ms: number, lost = 0) =>
    () => {
      clock.time += ms + lost
      clock.lost += lost
      return 'made'
    }
  const withoutProcessor = () => {
    clock.asked++
    call(0, clock.lostWhenAsked)()
    clock.lostWhenAsked = 0
    return clock.lost
  }
  const breaker = createLatencyBreaker(0.5, { now: () => clock.time, withoutProcessor })
  return { clock, call, breaker }
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

  it('does not take a loss of the processor for a slow disk, however long and frequent', () => {
    const { breaker, call } = openBreaker()
    for (let count = 0; count < 1000; count++) {
      expect(breaker.time(call(0.02, count % 3 === 0 ? 40 : 0.3))).to.equal('made')
      expect(breaker.isTripped()).to.equal(false)
    }
  })

  it('does not take a loss of the processor while it asks for slowness, either', () => {
    const { clock, breaker, call } = openBreaker()
    for (let count = 0; count < 100; count++) {
      clock.lostWhenAsked = 40
      breaker.time(call(0.02))
      expect(breaker.isTripped()).to.equal(false)
      clock.time += 3
    }
  })

  it('trips on a slow disk where the processor is lost, too, and rests for what the disk took', () => {
    const { clock, breaker, call } = openBreaker()
    breaker.time(call(10, 300))
    expect(breaker.isTripped()).to.equal(true)
    clock.time += 199
    expect(breaker.isTripped()).to.equal(true)
    clock.time += 2
    expect(breaker.isTripped()).to.equal(false)
  })

  it('does not excuse a slow call by what was lost long before it, or twice', () => {
    const { clock, breaker, call } = openBreaker()
    breaker.time(call(0.02))
    call(0, 500)()
    breaker.time(call(10))
    expect(breaker.isTripped(), 'long before').to.equal(true)
    clock.time += 1_000
    breaker.time(call(0.02, 500))
    breaker.time(call(10))
    expect(breaker.isTripped(), 'twice').to.equal(true)
  })

  it('asks for lost time every two milliseconds and after slow calls, not at each call', () => {
    const { clock, breaker, call } = openBreaker()
    for (let count = 0; count < 1000; count++) breaker.time(call(0.1))
    expect(clock.asked).to.be.within(40, 50)
    breaker.time(call(1))
    expect(clock.asked).to.be.within(41, 52)
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

const isKnown = existsSync('/proc/thread-self/schedstat')

function measure(wait: () => void) {
  const begin = { time: threadClock.now(), lost: threadClock.withoutProcessor() }
  wait()
  const lost = threadClock.withoutProcessor() - begin.lost
  return { lost, elapsed: threadClock.now() - begin.time }
}

function sleep(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('threadClock', () => {
  it('does not count as lost what the thread waits for', () => {
    const { elapsed, lost } = measure(() => {
      for (let count = 0; count < 10; count++) sleep(20)
    })
    expect(lost).to.be.at.least(0)
    expect(elapsed - lost).to.be.at.least(195)
  })

  it('counts as lost what other processes run, where the system says so', function () {
    this.timeout(120_000)
    const programs = Array.from({ length: 2 * availableParallelism() }, () =>
      spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
    )
    try {
      const end = performance.now() + 100_000
      let lost = 0
      while (isKnown && lost < 20 && performance.now() < end) lost += measure(spin).lost
      if (isKnown) expect(lost).to.be.at.least(20)
      else expect(measure(spin).lost).to.equal(0)
    } finally {
      for (const program of programs) program.kill('SIGKILL')
    }
  })
})

function spin() {
  const end = performance.now() + 20
  while (performance.now() < end);
}
