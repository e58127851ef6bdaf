import { expect } from 'chai'
import { createMemoryFailureCounter } from '../../src/memory/index.ts'
import { FileServiceError } from '../../src/model/errors.ts'
import {
  createLoginBrake,
  noLoginBrake,
  type LoginAttempt,
  type LoginBrake,
  type LoginBrakeOptions,
} from '../../src/policy/brakes.ts'
import { refusal, rejection } from '../rejection.ts'

const windowMs = 60_000

function brakeWithClock(options: Omit<LoginBrakeOptions, 'counter'> = {}) {
  let time = 1_000_000
  const counter = createMemoryFailureCounter({ windowMs, now: () => time })
  return {
    brake: createLoginBrake({ counter, ...options }),
    pass: (milliseconds: number) => void (time += milliseconds),
  }
}

async function fail(brake: LoginBrake, times: number, name: string, address: string) {
  for (let time = 0; time < times; time++) {
    expect(await brake.attempt({ name, address }, async () => false)).to.equal(false)
  }
}

/** An attempt that succeeds, if it may be made. */
async function check(brake: LoginBrake, attempt: LoginAttempt): Promise<void> {
  expect(await brake.attempt(attempt, async () => true)).to.equal(true)
}

async function retryAfterMs(promise: Promise<void>): Promise<number | undefined> {
  const error = await rejection(promise)
  return error instanceof FileServiceError ? error.retryAfterMs : undefined
}

describe('createLoginBrake', () => {
  it('lets everyone try while no one has failed', async () => {
    const { brake } = brakeWithClock()
    for (let time = 0; time < 100; time++) await check(brake, { name: 'alice', address: '1.1.1.1' })
  })

  it('neither counts nor refuses an address that is exempt', async () => {
    const { brake } = brakeWithClock({
      failuresPerAddress: 2,
      isExempt: (address) => address === '1.1.1.1',
    })
    await fail(brake, 20, 'alice', '1.1.1.1')
    await check(brake, { name: 'alice', address: '1.1.1.1' })
    await fail(brake, 2, 'alice', '2.2.2.2')
    const refused = refusal(brake.attempt({ name: 'alice', address: '2.2.2.2' }, () => true))
    expect(await refused).to.equal('too-many-attempts')
  })

  it('refuses an address after 30 failures on whatever names', async () => {
    const { brake } = brakeWithClock()
    for (let n = 0; n < 29; n++) await fail(brake, 1, `name ${n}`, '1.1.1.1')
    await check(brake, { name: 'alice', address: '1.1.1.1' })
    await fail(brake, 1, 'name 29', '1.1.1.1')
    expect(await refusal(check(brake, { name: 'alice', address: '1.1.1.1' }))).to.equal(
      'too-many-attempts',
    )
    expect(await refusal(check(brake, { name: 'name 0', address: '1.1.1.1' }))).to.equal(
      'too-many-attempts',
    )
    await check(brake, { name: 'alice', address: '2.2.2.2' })
    await check(brake, { name: 'name 0', address: '2.2.2.2' })
  })

  it('refuses the addresses that took part after 10 failures on a name', async () => {
    const { brake } = brakeWithClock()
    await fail(brake, 8, 'alice', '1.1.1.1')
    await fail(brake, 1, 'alice', '2.2.2.2')
    await check(brake, { name: 'alice', address: '1.1.1.1' })
    await fail(brake, 1, 'alice', '3.3.3.3')
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) {
      expect(await refusal(check(brake, { name: 'alice', address: address })), address).to.equal(
        'too-many-attempts',
      )
    }
  })

  it('lets an address without failures on the name try however often others failed', async () => {
    const { brake } = brakeWithClock()
    for (let n = 0; n < 100; n++) await fail(brake, 1, 'alice', `10.0.0.${n}`)
    for (let n = 0; n < 29; n++) await fail(brake, 1, `bob ${n}`, '4.4.4.4')
    await check(brake, { name: 'alice', address: '4.4.4.4' })
    await fail(brake, 1, 'alice', '5.5.5.5')
    expect(await refusal(check(brake, { name: 'alice', address: '5.5.5.5' }))).to.equal(
      'too-many-attempts',
    )
  })

  it('lets an address try other names while one name is refused to it', async () => {
    const { brake } = brakeWithClock()
    await fail(brake, 10, 'alice', '1.1.1.1')
    await check(brake, { name: 'bob', address: '1.1.1.1' })
    await check(brake, { name: 'alic', address: '1.1.1.1' })
    await check(brake, { name: 'alice', address: '1.1.1.11' })
  })

  it('goes by the numbers it is given', async () => {
    const { brake } = brakeWithClock({ failuresPerAddress: 3, failuresPerName: 2 })
    await fail(brake, 1, 'alice', '1.1.1.1')
    await check(brake, { name: 'alice', address: '1.1.1.1' })
    await fail(brake, 1, 'alice', '1.1.1.1')
    expect(await refusal(check(brake, { name: 'alice', address: '1.1.1.1' }))).to.equal(
      'too-many-attempts',
    )
    await check(brake, { name: 'bob', address: '1.1.1.1' })
    await fail(brake, 1, 'bob', '1.1.1.1')
    expect(await refusal(check(brake, { name: 'carol', address: '1.1.1.1' }))).to.equal(
      'too-many-attempts',
    )
  })

  it('says when the failures of an address are forgotten, and then lets it try', async () => {
    const { brake, pass } = brakeWithClock({ failuresPerAddress: 2 })
    await fail(brake, 1, 'a', '1.1.1.1')
    pass(20_000)
    await fail(brake, 1, 'b', '1.1.1.1')
    expect(await retryAfterMs(check(brake, { name: 'alice', address: '1.1.1.1' }))).to.equal(40_000)
    pass(39_999)
    expect(await retryAfterMs(check(brake, { name: 'alice', address: '1.1.1.1' }))).to.equal(1)
    pass(1)
    await check(brake, { name: 'alice', address: '1.1.1.1' })
  })

  it('holds on a name until its failures, or those of the address on it, are forgotten', async () => {
    const { brake, pass } = brakeWithClock({ failuresPerName: 2 })
    await fail(brake, 1, 'alice', '1.1.1.1')
    pass(10_000)
    await fail(brake, 1, 'alice', '2.2.2.2')
    expect(await retryAfterMs(check(brake, { name: 'alice', address: '2.2.2.2' }))).to.equal(50_000)
    pass(50_000)
    await check(brake, { name: 'alice', address: '2.2.2.2' })
    await fail(brake, 2, 'alice', '3.3.3.3')
    expect(await retryAfterMs(check(brake, { name: 'alice', address: '2.2.2.2' }))).to.equal(10_000)
    pass(10_000)
    await check(brake, { name: 'alice', address: '2.2.2.2' })
  })

  it('keeps names and addresses apart whatever the names contain', async () => {
    const { brake } = brakeWithClock({ failuresPerAddress: 2, failuresPerName: 2 })
    await fail(brake, 2, '1.1.1.1', '9.9.9.9')
    await check(brake, { name: 'alice', address: '1.1.1.1' })
    await fail(brake, 2, 'address 7.7.7.7', '6.6.6.6')
    await check(brake, { name: 'alice', address: '7.7.7.7' })
  })
})

describe('createLoginBrake over a counter that cannot be reached', () => {
  const down = new Error('down')
  const alice = { name: 'alice', address: '1.1.1.1' }
  const none = async () => ({ failures: 0, forgottenInMs: 0 })

  it('says so, and does not take it for no failures', async () => {
    const brake = createLoginBrake({
      counter: { read: () => Promise.reject(down), add: async () => {} },
    })
    expect(await rejection(check(brake, alice))).to.equal(down)
    expect(await rejection(brake.attempt(alice, async () => true))).to.equal(down)
  })

  it('gives no answer when it cannot count the failure', async () => {
    const brake = createLoginBrake({ counter: { read: none, add: () => Promise.reject(down) } })
    expect(await rejection(brake.attempt(alice, async () => false))).to.equal(down)
    expect(await brake.attempt(alice, async () => true)).to.equal(true)
  })
})

describe('noLoginBrake', () => {
  it('never holds', async () => {
    await fail(noLoginBrake, 1000, 'alice', '1.1.1.1')
    await check(noLoginBrake, { name: 'alice', address: '1.1.1.1' })
  })
})
