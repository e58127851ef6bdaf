import { setImmediate as nextTick } from 'node:timers/promises'
import type { HeldLock, RevocableLocks } from '@holdfast/core'
import { expect } from 'chai'
import { firstAndLast, globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'
import { promptly } from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'

/** Locks made for one test. */
export interface RevocableLocksHarness {
  /**
   * The same locks as several processes or servers take them. The tests use the first and the last one, which are the same where there is
   * only one process.
   */
  readonly takers: readonly RevocableLocks[]
  /** Takes all locks that are held from their holders, as the end of a lease does. Unused where holders never lose a lock. */
  readonly revoke: () => Promise<void>
  /** Ends the process of the first taker, and lets as much time pass as its locks outlive it. Unused where there is one process. */
  readonly endFirst: () => Promise<void>
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

export interface RevocableLocksSuiteOptions extends SuiteOptions {
  /** Whether several processes take the locks, whose holders can lose them. Default: one process does, and holders lose none. */
  readonly isShared?: boolean
}

/** Declares the tests that all {@link RevocableLocks} must pass. Each test opens its own locks and disposes of them. */
export function describeRevocableLocks(
  name: string,
  open: () => Promise<RevocableLocksHarness>,
  { runner = globalRunner(), isShared = false }: RevocableLocksSuiteOptions = {},
): void {
  const test: LocksTest = (fact, body) =>
    runner.it(fact, () =>
      withHarness(open, (harness) => body({ ...harness, ...firstAndLast(harness.takers) })),
    )

  runner.describe(`${name} as RevocableLocks`, () => {
    holding(test)
    if (isShared) sharing(test)
  })
}

interface Site extends RevocableLocksHarness {
  readonly first: RevocableLocks
  readonly last: RevocableLocks
}

type LocksTest = (fact: string, body: (site: Site) => Promise<void>) => void

function holding(test: LocksTest): void {
  test('give a free lock at once', async ({ first, last }) => {
    for (const take of [first, last, first]) {
      const { lostHolders, release } = await promptly(take('alice'), 'taking a free lock')
      expect(lostHolders).to.equal(0)
      release()
    }
  })

  test('have one holder at a time', async ({ first, last }) => {
    let holders = 0
    let most = 0
    const work = async (take: RevocableLocks) => {
      const { release } = await take('alice')
      most = Math.max(most, ++holders)
      await nextTick()
      holders--
      release()
    }
    await Promise.all(Array.from({ length: 50 }, (_, n) => work(n % 2 === 0 ? first : last)))
    expect(most).to.equal(1)
  })

  test('are given in the order of the calls', async ({ first }) => {
    const order: number[] = []
    const work = async (n: number) => {
      const { release } = await first('alice')
      order.push(n)
      await nextTick()
      release()
    }
    await Promise.all(Array.from({ length: 20 }, (_, n) => work(n)))
    expect(order).to.deep.equal(Array.from({ length: 20 }, (_, n) => n))
  })

  test('of different keys do not wait for each other', async ({ first, last }) => {
    const keys = ['', ...nastyNames.slice(0, 40), 'x'.repeat(1_000)]
    const held: HeldLock[] = []
    for (const [n, key] of keys.entries()) {
      held.push(await promptly((n % 2 === 0 ? first : last)(key), `taking ${JSON.stringify(key)}`))
    }
    for (const { release } of held) release()
  })

  test('free no other lock when they are released twice', async ({ first, last }) => {
    const earlier = await first('alice')
    const taking = last('alice')
    earlier.release()
    earlier.release()
    const held = await taking
    let isTaken = false
    const next = first('alice').then((lock) => {
      isTaken = true
      return lock
    })
    earlier.release()
    for (let count = 0; count < 20; count++) await nextTick()
    expect(isTaken, 'the lock has two holders').to.equal(false)
    held.release()
    ;(await next).release()
  })
}

function sharing(test: LocksTest): void {
  const takeAndRelease = async (take: RevocableLocks) => {
    const held = await take('alice')
    held.release()
    return held.isSameHolder
  }

  test('say whether another process may have changed anything since', async ({ first, last }) => {
    await takeAndRelease(first)
    await takeAndRelease(last)
    expect(await takeAndRelease(first)).to.equal(false)
    expect(await takeAndRelease(last)).to.equal(false)
  })

  test('go to the next one when they are revoked, and count who lost them', async (site) => {
    const { first, last, revoke } = site
    const lost = await first('alice')
    const taking = last('alice')
    await nextTick()
    await revoke()
    const held = await promptly(taking, 'taking a revoked lock')
    expect([held.lostHolders, held.isSameHolder]).to.deep.equal([1, false])
    held.release()
    const again = await last('alice')
    expect(again.lostHolders, 'until the loser releases it').to.equal(1)
    again.release()
    lost.release()
    for (let count = 0; count < 20; count++) await nextTick()
    const after = await last('alice')
    expect([after.lostHolders, after.isSameHolder]).to.deep.equal([0, false])
    after.release()
  })

  test('are released by the end of a process', async ({ first, last, endFirst }) => {
    const held = await first('alice')
    const taking = last('alice')
    const queued = first('alice')
    queued.catch(() => {})
    await nextTick()
    await endFirst()
    const next = await promptly(taking, 'taking the lock of a dead process')
    expect(next.isSameHolder).to.equal(false)
    next.release()
    held.release()
  })
}
