import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { describeFailureCounter } from '@holdfast/contract'
import { expect } from 'chai'
import { createLoginFailureCounter } from '../../src/serve/login-failure-counter.ts'

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

  it('does not keep the process alive', async () => {
    const module = new URL('../../src/serve/login-failure-counter.ts', import.meta.url).href
    const program = `
      import { createLoginFailureCounter } from ${JSON.stringify(module)}
      await createLoginFailureCounter(3_600_000).add('alice')`
    const args = ['--input-type=module', '--eval', program]
    await promisify(execFile)(process.execPath, args, { timeout: 10_000 })
  })
})
