import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { isFileServiceError, type PasswordVerifier } from '@holdfast/core'
import { expect } from 'chai'
import { rejection } from './support/expectations.ts'
import { globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'

/** A password verifier made for one test. */
export interface PasswordVerifierHarness {
  readonly verify: PasswordVerifier
  /** Hashes a password as in production, at the full cost. */
  readonly hash: (password: string) => Promise<string>
  /** Ends what the verifier has started, also after a failed test. */
  readonly dispose: () => Promise<void>
}

/**
 * Declares the tests that every {@link PasswordVerifier} must pass. `open` makes a verifier that refuses calls as `overloaded` well before
 * 2000 of them wait; each test opens one and disposes of it.
 */
export function describePasswordVerifier(
  name: string,
  open: () => Promise<PasswordVerifierHarness>,
  { runner = globalRunner() }: SuiteOptions = {},
): void {
  const test: VerifierTest = (fact, body) => runner.it(fact, () => withHarness(open, body))

  runner.describe(`${name} as a PasswordVerifier`, () => {
    judging(test)
    costing(test)
  })
}

type VerifierTest = (
  fact: string,
  body: (harness: PasswordVerifierHarness) => Promise<void>,
) => void

const passwords = [
  'secret',
  '',
  ' secret ',
  'pässwörd 你好 😀',
  '\0',
  'x'.repeat(100),
  'x'.repeat(100_000),
]

function judging(test: VerifierTest): void {
  for (const password of passwords) {
    const title = `${JSON.stringify(password.slice(0, 10))} of ${password.length} characters`
    test(`knows the password ${title}, and no other`, async ({ verify, hash }) => {
      const passwordHash = await hash(password)
      expect(await verify(password, passwordHash), 'itself').to.equal(true)
      // Some hashes read only up to a NUL, or only 72 bytes. (A NUL at the very end is padding to HMAC, and so to scrypt.)
      for (const other of [`${password}\0y`, `${password}y`, `y${password}`, `${password} `]) {
        expect(await verify(other, passwordHash), JSON.stringify(other.slice(-10))).to.equal(false)
      }
    })
  }

  test('gives false for an unknown customer, whatever the password', async ({ verify }) => {
    for (const password of passwords) expect(await verify(password, undefined)).to.equal(false)
  })

  test('takes any string for a password', async ({ verify, hash }) => {
    const passwordHash = await hash('secret')
    for (const password of ['\ud800', '\n', '$scrypt$', '__proto__']) {
      expect(await verify(password, passwordHash), JSON.stringify(password)).to.equal(false)
    }
  })

  test('rejects when the hash is in no known format', async ({ verify }) => {
    for (const passwordHash of ['', 'secret', '$', '$nothing$known$here', '{"hash":1}']) {
      await rejection(Promise.resolve(verify('secret', passwordHash)), JSON.stringify(passwordHash))
    }
  })
}

function costing(test: VerifierTest): void {
  test('takes as long for an unknown customer as for a wrong password', async ({
    verify,
    hash,
  }) => {
    const passwordHash = await hash('secret')
    const wrong: number[] = []
    const unknown: number[] = []
    // The fastest of several runs, since other work on the machine only makes them slower; of many runs if there is much such work.
    let ratio = NaN
    for (let round = 0; round < 30 && !(round >= 7 && ratio > 0.5 && ratio < 2); round++) {
      wrong.push(await timeOf(async () => verify(`wrong ${round}`, passwordHash)))
      unknown.push(await timeOf(async () => verify(`wrong ${round}`, undefined)))
      ratio = Math.min(...unknown) / Math.min(...wrong)
    }
    expect(ratio, 'time for unknown by time for wrong').to.be.within(0.5, 2)
  })

  test('leaves the thread to others while it hashes', async ({ verify, hash }) => {
    const passwordHash = await hash('secret')
    const start = performance.now()
    let hashing = true
    const verified = Promise.resolve(verify('wrong', passwordHash)).finally(() => (hashing = false))
    let immediates = 0
    while (hashing) {
      await setImmediate()
      immediates++
    }
    await verified
    // Blocking for less than ten milliseconds is harmless.
    if (performance.now() - start > 10) expect(immediates, 'calls of setImmediate').to.be.above(3)
  })

  test('refuses as overloaded when too many wait, and recovers', async ({ verify, hash }) => {
    const passwordHash = await hash('secret')
    const calls = Array.from({ length: 2000 }, async (_, n) => verify(`wrong ${n}`, passwordHash))
    const outcomes = await Promise.allSettled(calls)
    const refused = outcomes.filter((call) => call.status === 'rejected')
    expect(refused, 'refused calls').not.to.have.length(0)
    for (const { reason } of refused)
      expect(isFileServiceError(reason, 'overloaded')).to.equal(true)
    expect(outcomes.length - refused.length, 'answered calls').to.be.above(0)
    expect(await verify('secret', passwordHash), 'afterwards').to.equal(true)
  })
}

async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await action()
  return performance.now() - start
}
