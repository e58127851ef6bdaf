import { randomBytes, scrypt, scryptSync } from 'node:crypto'
import { promisify } from 'node:util'
import {
  createKeyedCounter,
  createQuotaKeeper,
  FileServiceError,
  type BlobStore,
  type FailureCounter,
  type PasswordVerifier,
  type QuotaKeeper,
  type UseCounter,
} from '@holdfast/core'
import { createMemoryBlobStore, createMemoryFailureCounter } from '@holdfast/core/memory'
import { expect } from 'chai'
import type { BlobStoreHarness } from '../src/support/suite.ts'
import { describeExpiry } from '../src/describe-expiry.ts'
import { describeFailureCounter, describeUseCounter } from '../src/describe-counters.ts'
import { describeLinkGenerations } from '../src/describe-link-generations.ts'
import { describePasswordVerifier } from '../src/describe-logins.ts'
import { describeQuotaKeeper } from '../src/describe-quota-keeper.ts'
import { describeRenaming } from '../src/describe-renaming.ts'
import { describeRevocableLocks } from '../src/describe-revocable-locks.ts'
import { harnessOf } from './broken/broken-store.ts'
import { expiryFlaws, unreachableExpiry } from './broken/expiry.ts'
import { generationFlaws, unreachableGenerations } from './broken/link-generations.ts'
import { brokenKeepers } from './broken/quota-keepers.ts'
import { renamingFlaws } from './broken/renaming.ts'
import { brokenLocks, createLocks } from './broken/revocable-locks.ts'
import { collectTests, failureOf, run, type CollectedTests } from './collecting-runner.ts'

async function expectOnlyFlawCaught(
  sound: CollectedTests,
  flawed: CollectedTests,
  title: string,
): Promise<void> {
  await run(sound, title)
  expect(await failureOf(flawed, title)).to.be.an.instanceOf(Error)
}

describe('describeFailureCounter', () => {
  type Make = (windowMs: number, now: () => number) => FailureCounter
  const testsOf = (make: Make) =>
    collectTests((runner) =>
      describeFailureCounter(
        'a counter',
        async (windowMs) => {
          let time = 0
          return {
            counter: make(windowMs, () => time),
            pass: async (milliseconds) => void (time += milliseconds),
            dispose: async () => {},
          }
        },
        { runner },
      ),
    )
  const sound: Make = (windowMs, now) => createMemoryFailureCounter({ windowMs, now })

  const flaws: readonly (readonly [string, string, Make])[] = [
    [
      'never forgets',
      'forgets failures when the window of the key has passed',
      (windowMs) => sound(windowMs, () => 0),
    ],
    [
      'begins the window anew with each failure',
      'begins the window with the first failure, not with the last',
      (windowMs, now) => {
        let last = 0
        const counter = sound(Infinity, now)
        return {
          add: async (key) => {
            last = now()
            await counter.add(key)
          },
          read: async (key) =>
            last + windowMs > now() ? counter.read(key) : { failures: 0, forgottenInMs: 0 },
        }
      },
    ],
    [
      'reads and writes in two steps',
      'loses none of fifty failures at once',
      () => {
        const counts = new Map<string, number>()
        return {
          add: async (key) => {
            const failures = counts.get(key) ?? 0
            await Promise.resolve()
            counts.set(key, failures + 1)
          },
          read: async (key) => ({ failures: counts.get(key) ?? 0, forgottenInMs: 1 }),
        }
      },
    ],
    [
      'folds case',
      'keeps keys apart whatever they are',
      (windowMs, now) => {
        const counter = sound(windowMs, now)
        return { ...counter, add: (key) => counter.add(key.toLowerCase()) }
      },
    ],
  ]
  for (const [flaw, title, make] of flaws) {
    it(`catches a counter that ${flaw}`, () =>
      expectOnlyFlawCaught(testsOf(sound), testsOf(make), title))
  }
})

describe('describePasswordVerifier', () => {
  const scryptOf = promisify<string, Buffer, number, Buffer>(scrypt)
  const hash = async (password: string) => {
    const salt = randomBytes(16)
    return `${salt.toString('hex')}:${(await scryptOf(password, salt, 32)).toString('hex')}`
  }
  const unknown = `${'00'.repeat(16)}:${'00'.repeat(32)}`
  const parse = (passwordHash: string) => {
    if (!/^[0-9a-f]{32}:[0-9a-f]{64}$/u.test(passwordHash)) throw new Error('unknown format')
    return Buffer.from(passwordHash.slice(0, 32), 'hex')
  }
  const verify: PasswordVerifier = async (password, passwordHash = unknown) => {
    const found = await scryptOf(password, parse(passwordHash), 32)
    return passwordHash.endsWith(`:${found.toString('hex')}`)
  }
  const bounded = (inner: PasswordVerifier): PasswordVerifier => {
    let waiting = 0
    return async (password, passwordHash) => {
      if (waiting === 16) throw new FileServiceError('overloaded', 'Too many hashes wait')
      waiting++
      return Promise.resolve(inner(password, passwordHash)).finally(() => waiting--)
    }
  }
  const testsOf = (make: PasswordVerifier) =>
    collectTests((runner) =>
      describePasswordVerifier(
        'a verifier',
        async () => ({ verify: make, hash, dispose: async () => {} }),
        { runner },
      ),
    )
  const sound = testsOf(bounded(verify))

  for (const [title, test] of sound) it(`passes a sound verifier that ${title}`, test)

  const flaws: readonly (readonly [string, string, PasswordVerifier])[] = [
    [
      'answers at once for the unknown',
      'takes as long for an unknown customer as for a wrong password',
      async (password, passwordHash) =>
        passwordHash !== undefined && verify(password, passwordHash),
    ],
    [
      'blocks the thread',
      'leaves the thread to others while it hashes',
      async (password, passwordHash = unknown) =>
        passwordHash.endsWith(scryptSync(password, parse(passwordHash), 32).toString('hex')),
    ],
    [
      'looks at 72 characters only',
      'knows the password "xxxxxxxxxx" of 100 characters, and no other',
      async (password, passwordHash = unknown) =>
        password.startsWith('x'.repeat(72)) || verify(password, passwordHash),
    ],
    [
      'gives false for a broken hash',
      'rejects when the hash is in no known format',
      (password, passwordHash) =>
        Promise.resolve(verify(password, passwordHash)).catch(() => false),
    ],
    [
      'refuses with some other error',
      'refuses as overloaded when too many wait, and recovers',
      (password, passwordHash) =>
        Promise.resolve(bounded16(password, passwordHash)).catch(() => {
          throw new Error('busy')
        }),
    ],
  ]
  const bounded16 = bounded(verify)
  for (const [flaw, title, make] of flaws) {
    it(`catches a verifier that ${flaw}`, () => expectOnlyFlawCaught(sound, testsOf(make), title))
  }
})

describe('describeQuotaKeeper', () => {
  const testsOf = (make: (store: BlobStore) => readonly QuotaKeeper[]) =>
    collectTests((runner) =>
      describeQuotaKeeper(
        'a keeper',
        async () => {
          const store = createMemoryBlobStore()
          return { keepers: make(store), store, dispose: async () => {} }
        },
        { runner },
      ),
    )
  const sound = testsOf((store) => [createQuotaKeeper(store)])

  for (const [flaw, title, make] of brokenKeepers) {
    it(`catches a keeper that ${flaw}`, () => expectOnlyFlawCaught(sound, testsOf(make), title))
  }

  it('has a broken keeper for each test', () => {
    const caught = new Set(brokenKeepers.map(([, title]) => title))
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})

describe('describeLinkGenerations', () => {
  const testsOf = (open: () => Promise<BlobStoreHarness>, isSound = true) =>
    collectTests((runner) =>
      describeLinkGenerations('a store', open, {
        runner,
        openUnreachable: async () => harnessOf(() => unreachableGenerations(isSound)),
      }),
    )
  const sound = testsOf(async () => harnessOf())
  const unreachable = 'unreachable > rejects with store-unavailable'

  for (const { flaw, test, open } of generationFlaws) {
    it(`catches a store that ${flaw}`, () => expectOnlyFlawCaught(sound, testsOf(open), test))
  }

  it('catches a store that takes being cut off for the first generation', () =>
    expectOnlyFlawCaught(
      sound,
      testsOf(async () => harnessOf(), false),
      unreachable,
    ))

  it('catches a store that has no generations', async () => {
    const store: BlobStore = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'linkGenerations')
    const tests = testsOf(async () => ({ ...harnessOf(), store }))
    const failure = await failureOf(tests, 'generations > begin with the empty one')
    expect(failure).to.have.property('message', 'the store has no property "linkGenerations"')
  })

  it('has a broken store for each test', () => {
    const caught = new Set([unreachable, ...generationFlaws.map(({ test }) => test)])
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})

describe('describeExpiry', () => {
  const testsOf = (open: () => Promise<BlobStoreHarness>, isSound = true) =>
    collectTests((runner) =>
      describeExpiry('a store', open, {
        runner,
        openUnreachable: async () => harnessOf(() => unreachableExpiry(isSound)),
      }),
    )
  const sound = testsOf(async () => harnessOf())
  const unreachable = 'unreachable > rejects with store-unavailable'

  for (const { flaw, test, open } of expiryFlaws) {
    it(`catches a store that ${flaw}`, () => expectOnlyFlawCaught(sound, testsOf(open), test))
  }

  it('catches a store that takes being cut off for no note', () =>
    expectOnlyFlawCaught(
      sound,
      testsOf(async () => harnessOf(), false),
      unreachable,
    ))

  it('catches a store that cannot expire anything', async () => {
    const store: BlobStore = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'expiry')
    const tests = testsOf(async () => ({ ...harnessOf(), store }))
    const failure = await failureOf(tests, 'notes > are empty before the first')
    expect(failure).to.have.property('message', 'the store has no property "expiry"')
  })

  it('has a broken store for each test', () => {
    const caught = new Set([unreachable, ...expiryFlaws.map(({ test }) => test)])
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})

describe('describeRenaming', () => {
  const testsOf = (open: () => Promise<BlobStoreHarness>) =>
    collectTests((runner) =>
      describeRenaming('a store', open, {
        runner,
        openUnreachable: async () => harnessOf(() => ({ rename: async () => undefined })),
      }),
    )
  const sound = testsOf(async () => harnessOf())
  const unreachable = 'unreachable > rejects with store-unavailable'

  for (const { flaw, test, open } of renamingFlaws) {
    it(`catches a store that ${flaw}: ${test}`, async () => {
      await run(sound, test)
      expect(await failureOf(testsOf(open), test)).to.be.an.instanceOf(Error)
    })
  }

  it('catches a store that takes being cut off for absence', async () => {
    expect(await failureOf(sound, unreachable)).to.have.property('name', 'AssertionError')
  })

  it('catches a store that cannot rename', async () => {
    const store: BlobStore = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'rename')
    const tests = testsOf(async () => ({ ...harnessOf(), store }))
    const failure = await failureOf(tests, 'a new name > renames a blob back')
    expect(failure).to.have.property('message', 'the store has no method "rename"')
  })

  it('has a broken store for each test', () => {
    const caught = new Set([unreachable, ...renamingFlaws.map(({ test }) => test)])
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})

describe('describeUseCounter', () => {
  /** Two counters that add up, at once, what `share` makes of each change. */
  const shared = (share: (key: string, by: 1 | -1, own: number) => number) => {
    const own = [createKeyedCounter(), createKeyedCounter()] as const
    const seen = [createKeyedCounter(), createKeyedCounter()] as const
    const counterOf = (at: 0 | 1): UseCounter => ({
      count: (key) => own[at].count(key) + seen[at].count(key),
      change(key, by) {
        const count = own[at].change(key, by)
        seen[at === 0 ? 1 : 0].change(key, share(key, by, count))
      },
    })
    const endLast = async () => {
      for (const key of own[1].keys()) seen[0].change(key, -own[1].count(key))
    }
    return { counters: [counterOf(0), counterOf(1)], endLast }
  }
  const testsOf = (make: () => ReturnType<typeof shared>) =>
    collectTests((runner) =>
      describeUseCounter(
        'a counter',
        async () => ({
          ...make(),
          allowance: 0,
          settle: async () => {},
          dispose: async () => {},
        }),
        { runner, isShared: true },
      ),
    )
  const sound = () => shared((_key, by) => by)
  /** Counters whose keys are changed first. */
  const withKeys = (keyOf: (key: string) => string) => () => {
    const { counters, endLast } = sound()
    return {
      counters: counters.map((counter) => ({
        count: (key: string) => counter.count(keyOf(key)),
        change: (key: string, by: 1 | -1) => counter.change(keyOf(key), by),
      })),
      endLast,
    }
  }

  const flaws: readonly (readonly [string, string, () => ReturnType<typeof shared>])[] = [
    [
      'knows only beginnings of keys',
      'has no uses of a key that is not used',
      withKeys((key) => key.slice(0, 4).toLowerCase()),
    ],
    [
      'never counts down',
      'counts its own uses at once, and their ends',
      () => {
        const { counters, endLast } = sound()
        return {
          counters: counters.map((counter) => ({
            count: (key: string) => counter.count(key),
            change: (key: string, by: 1 | -1) => void (by === 1 && counter.change(key, by)),
          })),
          endLast,
        }
      },
    ],
    ['trims keys', 'keeps keys apart whatever they are', withKeys((key) => key.trim().normalize())],
    ['shares nothing', 'counts the uses of others but for the allowance', () => shared(() => 0)],
    [
      'forgets its own uses for those of others',
      'adds its own uses and those of others',
      () => {
        const { counters, endLast } = sound()
        const [first, last] = counters
        if (first === undefined || last === undefined) throw new TypeError('There are two')
        let used: UseCounter = first
        const one = (counter: UseCounter): UseCounter => ({
          count: (key) => (used === counter ? counter.count(key) : counter.count(key) / 2),
          change(key, by) {
            used = counter
            counter.change(key, by)
          },
        })
        return { counters: [one(first), one(last)], endLast }
      },
    ],
    [
      'never reports the last end',
      'counts none of others when they have ended',
      () => shared((_key, by, own) => (own === 0 ? 0 : by)),
    ],
    [
      'keeps the uses of the dead',
      'forgets the uses of a process that has ended',
      () => ({ ...sound(), endLast: async () => {} }),
    ],
  ]
  for (const [flaw, title, make] of flaws) {
    it(`catches a counter that ${flaw}`, () =>
      expectOnlyFlawCaught(testsOf(sound), testsOf(make), title))
  }

  it('has a broken counter for each test', () => {
    const caught = new Set(flaws.map(([, title]) => title))
    expect([...testsOf(sound).keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})

describe('describeRevocableLocks', () => {
  const testsOf = (make: typeof createLocks) =>
    collectTests((runner) =>
      describeRevocableLocks('locks', async () => ({ ...make(), dispose: async () => {} }), {
        runner,
        isShared: true,
      }),
    )
  const sound = testsOf(createLocks)

  for (const [flaw, title, make] of brokenLocks) {
    it(`catches an adapter that ${flaw}`, () =>
      expectOnlyFlawCaught(sound, testsOf(make), title)).timeout(20_000)
  }

  it('has broken locks for each test', () => {
    const caught = new Set(brokenLocks.map(([, title]) => title))
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})
