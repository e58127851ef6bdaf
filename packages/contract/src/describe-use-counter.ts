import type { UseCounter } from '@holdfast/core'
import { expect } from 'chai'
import { firstAndLast, globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'
import { nastyNames } from './support/nasty-names.ts'

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
  const test: CounterTest = (fact, body) =>
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

type CounterTest = (fact: string, body: (site: Site) => Promise<void> | void) => void
