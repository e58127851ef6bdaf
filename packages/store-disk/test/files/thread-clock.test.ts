import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { threadClock } from '../../src/files/latency-breaker.ts'

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
