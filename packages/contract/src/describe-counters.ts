import type { FailureCounter, UseCounter } from '@holdfast/core'
import { expect } from 'chai'
import { nastyNames } from './support/nasty-names.ts'
import { globalRunner, withHarness, type SuiteOptions, firstAndLast } from './support/suite.ts'

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
  const test: FailureCounterTest = (fact, body) =>
    runner.it(fact, () => withHarness(() => open(windowMs), body))

  runner.describe(`${name} as a FailureCounter`, () => {
    counting(test)
    forgetting(test)
  })
}

type FailureCounterTest = (
  fact: string,
  body: (harness: FailureCounterHarness) => Promise<void>,
) => void

function counting(test: FailureCounterTest): void {
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

function forgetting(test: FailureCounterTest): void {
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

/** Counters of uses made for one test. */
export interface UseCounterHarness {
  /** Counters that share their counts, as those of several processes or servers do. The tests use the first and the last one. */
  readonly counters: readonly UseCounter[]
  /** How many uses of one key the counters may miss of each other; 0 where they share all. */
  readonly allowance: number
  /** Resolves when all counters know what the others had counted before the call. */
  readonly settle: () => Promise<void>
  /** Ends the process of the last counter, with all its uses. */
  readonly endLast: () => Promise<void>
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

export interface UseCounterSuiteOptions extends SuiteOptions {
  /** Whether the counters are those of several processes, which share their counts. Default: there is one counter, of one process. */
  readonly isShared?: boolean
}

/** Declares the tests that every {@link UseCounter} must pass. Each test opens its own counters and disposes of them. */
export function describeUseCounter(
  name: string,
  open: () => Promise<UseCounterHarness>,
  { runner = globalRunner(), isShared = false }: UseCounterSuiteOptions = {},
): void {
  const test: UseCounterTest = (fact, body) =>
    runner.it(fact, () =>
      withHarness(open, (harness) => body({ ...harness, ...firstAndLast(harness.counters) })),
    )

  runner.describe(`${name} as a UseCounter`, () => {
    test('has no uses of a key that is not used', async ({ first, settle }) => {
      first.change('other', 1)
      await settle()
      for (const key of ['alice', '', '__proto__', 'othe', 'Other']) {
        expect(first.count(key), key).to.equal(0)
      }
    })

    test('counts its own uses at once, and their ends', ({ first }) => {
      for (let uses = 1; uses <= 20; uses++) {
        first.change('alice', 1)
        expect(first.count('alice')).to.equal(uses)
      }
      for (let uses = 19; uses >= 0; uses--) {
        first.change('alice', -1)
        expect(first.count('alice')).to.equal(uses)
      }
    })

    test('keeps keys apart whatever they are', async ({ first, last, settle }) => {
      const keys = ['', ...nastyNames.slice(0, 40), 'x'.repeat(1_000)]
      for (const key of keys) first.change(key, 1)
      await settle()
      for (const key of keys) expect(first.count(key), key).to.equal(1)
      for (const key of keys) first.change(key, -1)
      await settle()
      for (const key of keys) expect([first.count(key), last.count(key)], key).to.deep.equal([0, 0])
    })

    if (!isShared) return
    test('counts the uses of others but for the allowance', async (site) => {
      const { first, last, allowance, settle } = site
      for (let uses = 1; uses <= 100; uses++) {
        first.change('alice', 1)
        await settle()
        expect(last.count('alice')).to.be.within(uses - allowance, uses)
      }
    })

    test('adds its own uses and those of others', async ({ first, last, allowance, settle }) => {
      for (let uses = 0; uses < 50; uses++) {
        first.change('alice', 1)
        last.change('alice', 1)
      }
      await settle()
      for (const counter of [first, last]) {
        expect(counter.count('alice')).to.be.within(100 - allowance, 100)
      }
    })

    test('counts none of others when they have ended', async ({ first, last, settle }) => {
      for (const many of [1, 2, 50]) {
        for (let uses = 0; uses < many; uses++) first.change('alice', 1)
        await settle()
        for (let uses = 0; uses < many; uses++) first.change('alice', -1)
        await settle()
        expect([first.count('alice'), last.count('alice')]).to.deep.equal([0, 0])
      }
    })

    test('forgets the uses of a process that has ended', async (site) => {
      const { first, last, allowance, settle, endLast } = site
      first.change('alice', 1)
      for (let uses = 0; uses < 50; uses++) last.change('alice', 1)
      await settle()
      expect(first.count('alice')).to.be.within(51 - allowance, 51)
      await endLast()
      await settle()
      expect(first.count('alice')).to.equal(1)
    })
  })
}

interface Site extends UseCounterHarness {
  readonly first: UseCounter
  readonly last: UseCounter
}

type UseCounterTest = (fact: string, body: (site: Site) => Promise<void> | void) => void
