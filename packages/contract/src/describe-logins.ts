import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import {
  type Credential,
  type CredentialSource,
  isFileServiceError,
  type PasswordVerifier,
} from '@holdfast/core'
import { expect } from 'chai'
import { rejection } from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'
import { globalRunner, withHarness, type SuiteOptions } from './support/suite.ts'

/** A credential source made for one test. */
export interface CredentialSourceHarness {
  readonly source: CredentialSource
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

export interface CredentialSourceSuiteOptions extends SuiteOptions {
  /** For sources that can fail: opens one that cannot answer, for instance because its directory service is down. */
  readonly openUnable?: () => Promise<CredentialSourceHarness>
  /** Whether the source has `linkKey`. Default: no. */
  readonly hasLinkKeys?: boolean
  /** Whether the source knows further logins of customers, their rights and ends. Default: no. */
  readonly hasLogins?: boolean
  /** The hash of password `n`, for a source that accepts only hashes of some form. Default: invented text. */
  readonly passwordHash?: (n: number) => string
}

/**
 * Declares the tests that every {@link CredentialSource} must pass. `open` makes a source of exactly the given credentials, whose names
 * are different; each test opens one and disposes of it.
 */
export function describeCredentialSource(
  name: string,
  open: OpenSource,
  options: CredentialSourceSuiteOptions = {},
): void {
  const { runner = globalRunner(), openUnable, passwordHash = madeUpHash } = options
  const { hasLinkKeys = false, hasLogins = false } = options
  const withSource: SourceTest = (fact, credentials, body) =>
    runner.it(fact, () =>
      withHarness(
        () => open(credentials),
        ({ source }) => body(source),
      ),
    )

  runner.describe(`${name} as a CredentialSource`, () => {
    runner.describe('known customers', () => knownCustomers(withSource, passwordHash, hasLogins))
    runner.describe('strangers', () => strangers(withSource, passwordHash))
    if (hasLinkKeys) {
      runner.describe('keys for links', () => linkKeys(withSource, open, passwordHash))
    }
    if (!openUnable) return
    runner.it('rejects when it does not know', () =>
      withHarness(openUnable, async ({ source }) => {
        await rejection(Promise.resolve(source.find('alice')), 'find')
        await rejection(Promise.resolve(source.find('nobody')), 'find')
        if (source.linkKey) await rejection(source.linkKey('alice'), 'linkKey')
      }),
    )
  })
}

type OpenSource = (credentials: readonly Credential[]) => Promise<CredentialSourceHarness>

type SourceTest = (
  fact: string,
  credentials: readonly Credential[],
  body: (source: CredentialSource) => Promise<void>,
) => void

const madeUpHash = (n: number) => `$made-up$${n}`

function knownCustomers(
  test: SourceTest,
  passwordHash: (n: number) => string,
  hasLogins: boolean,
): void {
  const alice = { name: 'alice', passwordHash: passwordHash(1) }
  const bob = { name: 'bob', passwordHash: passwordHash(2), quota: 5_000_000_000 }
  const carol = { name: 'carol', passwordHash: passwordHash(3), quota: 0 }

  test('finds each customer by name, with hash and quota', [alice, bob, carol], async (source) => {
    for (const known of [alice, bob, carol]) {
      const { name, passwordHash: hash, quota } = (await source.find(known.name)) ?? {}
      expect({ name, hash, quota }).to.deep.equal({
        name: known.name,
        hash: known.passwordHash,
        quota: 'quota' in known ? known.quota : undefined,
      })
    }
  })

  test('finds the same again, and many at once', [alice, bob], async (source) => {
    const found = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => source.find(index % 2 ? 'bob' : 'alice')),
    )
    for (const [index, credential] of found.entries()) {
      expect(credential?.passwordHash).to.equal(index % 2 ? bob.passwordHash : alice.passwordHash)
    }
  })

  const limited = [bob, { ...alice, maxFiles: 1000 }, { ...carol, maxFiles: 0 }]
  test('finds the number of files that a customer may keep', limited, async (source) => {
    for (const known of limited) {
      const { quota, maxFiles } = (await source.find(known.name)) ?? {}
      expect({ quota, maxFiles }).to.deep.equal({
        quota: 'quota' in known ? known.quota : undefined,
        maxFiles: 'maxFiles' in known ? known.maxFiles : undefined,
      })
    }
  })

  const logins: readonly Credential[] = [
    { ...bob, may: ['list', 'read'] },
    {
      ...bob,
      name: 'bob/ci',
      login: 'ci',
      passwordHash: passwordHash(4),
      may: [],
      endsAtMs: 1_900_000_000_000,
    },
    carol,
    { ...carol, name: 'carol/ci', login: 'ci', passwordHash: passwordHash(5) },
  ]
  if (hasLogins) {
    test('finds further logins with their rights and ends', logins, async (source) => {
      for (const login of logins) expect(await source.find(login.name)).to.deep.equal(login)
      for (const stranger of ['ci', 'bob/', '/ci', 'alice/ci', 'bob/CI', 'bob/ci/', 'bob/bob'])
        expect(await source.find(stranger), stranger).to.equal(undefined)
    })
  }

  const nasty = nastyNames.map((name, n) => ({ name, passwordHash: passwordHash(n % 3), quota: n }))
  test('keeps customers apart whatever their names', nasty, async (source) => {
    for (const { name, quota } of nasty) {
      const found = await source.find(name)
      expect(found?.name, 'name').to.equal(name)
      expect(found?.quota, `quota of ${JSON.stringify(name)}`).to.equal(quota)
    }
  })
}

/** A key as text, for comparison. */
async function keyOf(source: CredentialSource, name: string): Promise<string | undefined> {
  if (source.linkKey === undefined) throw new TypeError('The source has no linkKey')
  const key = await source.linkKey(name)
  if (key === undefined) return undefined
  expect(key).to.be.an.instanceOf(Uint8Array)
  expect(key.length, 'bytes').to.be.at.least(32)
  return Array.from(key).join()
}

function linkKeys(test: SourceTest, open: OpenSource, passwordHash: (n: number) => string): void {
  const alice = { name: 'alice', passwordHash: passwordHash(1) }
  const bob = { name: 'bob', passwordHash: passwordHash(1), quota: 5 }

  test('are of 32 bytes or more, and the same again', [alice], async (source) => {
    const key = await keyOf(source, 'alice')
    expect(key).to.be.a('string')
    expect(await keyOf(source, 'alice')).to.equal(key)
  })

  test('differ from customer to customer, equal hashes or not', [alice, bob], async (source) => {
    expect(await keyOf(source, 'alice')).to.not.equal(await keyOf(source, 'bob'))
  })

  test('are not there for strangers', [alice], async (source) => {
    for (const name of ['bob', 'Alice', 'alice ', '', '__proto__', '\ud800', 'x'.repeat(100_000)]) {
      expect(await keyOf(source, name), name.slice(0, 20)).to.equal(undefined)
    }
  })

  test('are the same on every server', [alice, bob], async (source) => {
    await withHarness(
      () => open([bob, alice]),
      async ({ source: other }) => {
        expect(await keyOf(other, 'alice')).to.equal(await keyOf(source, 'alice'))
      },
    )
  })

  test('change with the password, and with nothing else', [alice, bob], async (source) => {
    const changed = [
      { ...alice, passwordHash: passwordHash(2) },
      { ...bob, quota: 6 },
    ]
    await withHarness(
      () => open(changed),
      async ({ source: later }) => {
        expect(await keyOf(later, 'alice')).to.not.equal(await keyOf(source, 'alice'))
        expect(await keyOf(later, 'bob')).to.equal(await keyOf(source, 'bob'))
      },
    )
  })
}

function strangers(test: SourceTest, passwordHash: (n: number) => string): void {
  const names = ['alice', 'caf\u00e9', 'Zo\u00eb', 'a b']
  const credentials = names.map((name, n) => ({ name, passwordHash: passwordHash(n) }))
  const twins = ['Alice', 'ALICE', 'alic', 'alice ', ' alice', 'alicee', 'alice\0', 'alice\n']
  const others = [
    'cafe\u0301',
    'cafe',
    'Zoe\u0308',
    'zo\u00eb',
    'a  b',
    'a+b',
    'a%20b',
    '*',
    'a*',
    '',
  ]
  const odd = [
    '\0',
    '\n',
    '/',
    '../alice',
    '\ud800',
    'alice\udc00',
    ' ',
    '.',
    '..',
    'x'.repeat(100_000),
  ]
  const properties = [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    '0',
    'size',
  ]

  for (const stranger of [...twins, ...others, ...odd, ...properties]) {
    const title = JSON.stringify(stranger.slice(0, 40))
    test(`does not know ${title}`, credentials, async (source) => {
      expect(await source.find(stranger)).to.equal(undefined)
    })
  }

  test('knows no one when there are no customers', [], async (source) => {
    for (const name of ['alice', '', '__proto__']) {
      expect(await source.find(name)).to.equal(undefined)
    }
  })
}

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
