import type { FailureCounter } from '@holdfast/core'
import { expect } from 'chai'
import { nastyNames } from './support/nasty-names.ts'
import { globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'

/** A failure counter made for one test. */
export interface FailureCounterHarness {
  /** The counter, with nothing counted. */
  readonly counter: FailureCounter
  /** Lets so many milliseconds pass for the counter, on its own clock or by waiting. */
  readonly pass: (milliseconds: number) => Promise<void>
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

/** Long enough for a slow shared counter to answer, and short enough for a test to wait. */
const windowMs = 2000

/**
 * Declares the tests that every {@link FailureCounter} must pass. `open` makes a counter with a window of so many milliseconds; each test
 * opens one and disposes of it.
 */
export function describeFailureCounter(
  name: string,
  open: (windowMs: number) => Promise<FailureCounterHarness>,
  { runner = globalRunner() }: SuiteOptions = {},
): void {
  const test: CounterTest = (fact, body) =>
    runner.it(fact, () => withHarness(() => open(windowMs), body))

  runner.describe(`${name} as a FailureCounter`, () => {
    counting(test)
    forgetting(test)
  })
}

type CounterTest = (fact: string, body: (harness: FailureCounterHarness) => Promise<void>) => void

function counting(test: CounterTest): void {
  test('has no failures of a key that never failed', async ({ counter }) => {
    await counter.add('other')
    for (const key of ['alice', '', '__proto__', 'othe', 'Other']) {
      expect(await counter.read(key), key).to.deep.equal({ failures: 0, forgottenInMs: 0 })
    }
  })

  test('counts failures and not readings', async ({ counter }) => {
    for (let failures = 1; failures <= 3; failures++) {
      await counter.add('alice')
      await counter.read('alice')
      expect((await counter.read('alice')).failures).to.equal(failures)
    }
  })

  test('loses none of fifty failures at once', async ({ counter }) => {
    await Promise.all(Array.from({ length: 50 }, () => counter.add('alice')))
    expect((await counter.read('alice')).failures).to.equal(50)
  })

  test('keeps keys apart whatever they are', async ({ counter }) => {
    const keys = ['', ...nastyNames.slice(0, 40), 'x'.repeat(10_000)]
    await Promise.all(keys.map((key) => counter.add(key)))
    for (const key of keys) expect((await counter.read(key)).failures, key).to.equal(1)
  })
}

function forgetting(test: CounterTest): void {
  test('says when the failures are forgotten', async ({ counter, pass }) => {
    await counter.add('alice')
    const first = await counter.read('alice')
    expect(first.forgottenInMs).to.be.within(1, windowMs)
    await pass(windowMs / 4)
    const later = await counter.read('alice')
    expect(later.forgottenInMs).to.be.within(1, first.forgottenInMs - windowMs / 4 + 50)
  })

  test('forgets failures when the window of the key has passed', async ({ counter, pass }) => {
    await counter.add('alice')
    await counter.add('alice')
    await pass(windowMs + 50)
    expect(await counter.read('alice')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
    await counter.add('alice')
    expect((await counter.read('alice')).failures).to.equal(1)
  })

  test('begins the window with the first failure, not with the last', async ({ counter, pass }) => {
    await counter.add('alice')
    await pass(windowMs * 0.6)
    await counter.add('alice')
    await counter.add('bob')
    await pass(windowMs * 0.6)
    expect((await counter.read('alice')).failures, 'alice').to.equal(0)
    expect((await counter.read('bob')).failures, 'bob').to.equal(1)
  })
}
