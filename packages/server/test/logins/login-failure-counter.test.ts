import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { describeFailureCounter } from '@holdfast/contract'
import { expect } from 'chai'
import { createLoginFailureCounter } from '../../src/logins/login-failure-counter.ts'

describe('createLoginFailureCounter', () => {
  describeFailureCounter('The counter of failed logins', async (windowMs) => ({
    counter: createLoginFailureCounter(windowMs),
    pass: async (milliseconds) => {
      await delay(milliseconds)
    },
    dispose: async () => {},
  }))

  it('has forgotten in time even where the process was too busy for its timers', async () => {
    const counter = createLoginFailureCounter(20)
    await counter.add('alice')
    const end = performance.now() + 40
    while (performance.now() < end);
    expect(await counter.read('alice')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
  })

  it('takes less than a KiB for a key however long, and nothing once it is forgotten', async () => {
    const module = new URL('../../src/logins/login-failure-counter.ts', import.meta.url).href
    const program = `
      import { setTimeout as delay } from 'node:timers/promises'
      import { createLoginFailureCounter } from ${JSON.stringify(module)}
      const counter = createLoginFailureCounter(6_000)
      const keys = 20_000
      const heap = () => {
        gc()
        return process.memoryUsage().heapUsed
      }
      const add = async (n) => {
        const key = 'name ' + n + 'x'.repeat(n % 2 ? 0 : 8_000)
        await counter.add(key)
        return (await counter.read(key)).failures
      }
      await add(0)
      const before = heap()
      for (let n = 1; n <= keys; n++) await add(n)
      const full = heap()
      const end = Date.now() + 40_000
      while (heap() - before > 2e6 && Date.now() < end) await delay(100)
      console.log(JSON.stringify({ each: (full - before) / keys, left: heap() - before }))`
    const args = ['--expose-gc', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 55_000 })
    const { each, left } = JSON.parse(stdout) as { each: number; left: number }
    expect(each, 'bytes for each key').to.be.within(50, 1024)
    expect(left, 'bytes left').to.be.lessThan(2e6)
  })

  it('distinguishes long and short keys from one another, and from their own digests', async () => {
    const counter = createLoginFailureCounter(60_000)
    const long = 'x'.repeat(65)
    await counter.add(long)
    const digest = createHash('sha256').update(long).digest('base64url')
    for (const other of [long.slice(1), `${long}x`, digest, `=${digest}`]) {
      expect((await counter.read(other)).failures, other).to.equal(0)
    }
    expect((await counter.read(long)).failures).to.equal(1)
  })

  it('does not keep the process alive', async () => {
    const module = new URL('../../src/logins/login-failure-counter.ts', import.meta.url).href
    const program = `
      import { createLoginFailureCounter } from ${JSON.stringify(module)}
      await createLoginFailureCounter(3_600_000).add('alice')`
    const args = ['--input-type=module', '--eval', program]
    await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  })
})
