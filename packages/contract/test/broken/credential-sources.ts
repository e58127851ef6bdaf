import { hash } from 'node:crypto'
import type { Credential, CredentialSource } from '@holdfast/core'

/** What is wrong with a source, the test that has to catch it, and how a sound source becomes one. */
type BrokenSource = readonly [
  flaw: string,
  test: string,
  wrap: (source: CredentialSource) => CredentialSource,
]

const withKey =
  (linkKey: (source: CredentialSource, name: string) => Promise<Uint8Array | undefined>) =>
  (source: CredentialSource): CredentialSource => ({
    find: (name) => source.find(name),
    linkKey: (name) => linkKey(source, name),
  })
const digest = (text: string) => new Uint8Array(hash('sha256', text, 'buffer'))
const ofFind: readonly BrokenSource[] = [
  [
    'folds case',
    'strangers > does not know "ALICE"',
    (source) => ({ find: (name) => source.find(name.toLowerCase()) }),
  ],
  [
    'trims',
    'strangers > does not know "alice "',
    (source) => ({ find: (name) => source.find(name.trim()) }),
  ],
  [
    'normalises',
    'strangers > does not know "cafe\u0301"',
    (source) => ({ find: (name) => source.find(name.normalize()) }),
  ],
  [
    'looks names up in an object literal',
    'strangers > does not know "__proto__"',
    (source) => {
      const found: Record<string, never> = {}
      return { find: async (name) => (await source.find(name)) ?? found[name] }
    },
  ],
  [
    'throws for the empty name',
    'strangers > does not know ""',
    (source) => ({
      find: async (name) => {
        if (name === '') throw new Error('no name')
        return source.find(name)
      },
    }),
  ],
  [
    'loses the quota',
    'known customers > finds each customer by name, with hash and quota',
    (source) => ({
      find: async (name) => {
        const found = await source.find(name)
        return found && { name: found.name, passwordHash: found.passwordHash }
      },
    }),
  ],
  [
    'loses the number of files',
    'known customers > finds the number of files that a customer may keep',
    (source) => ({
      find: async (name) => {
        const { maxFiles: _lost, ...found } = (await source.find(name)) ?? {}
        return found as Credential
      },
    }),
  ],
  [
    'knows a login by its customer alone',
    'known customers > finds further logins with their rights and ends',
    (source) => ({
      find: async (name) => (await source.find(name)) ?? source.find(name.split('/')[0] ?? ''),
    }),
  ],
  [
    'loses the rights',
    'known customers > finds further logins with their rights and ends',
    (source) => ({
      find: async (name) => {
        const { may: _lost, ...found } = (await source.find(name)) ?? {}
        return found as Credential
      },
    }),
  ],
  [
    'loses the end',
    'known customers > finds further logins with their rights and ends',
    (source) => ({
      find: async (name) => {
        const { endsAtMs: _lost, ...found } = (await source.find(name)) ?? {}
        return found as Credential
      },
    }),
  ],
  [
    'knows nobody when it cannot tell',
    'rejects when it does not know',
    (source) => ({ find: (name) => Promise.resolve(source.find(name)).catch(() => undefined) }),
  ],
]

const ofLinkKey: readonly BrokenSource[] = [
  [
    'has short keys',
    'keys for links > are of 32 bytes or more, and the same again',
    withKey(async (source, name) => (await source.linkKey?.(name))?.subarray(0, 31)),
  ],
  [
    'has one key for equal hashes',
    'keys for links > differ from customer to customer, equal hashes or not',
    withKey(async (source, name) => {
      const found = await source.find(name)
      return found && digest(found.passwordHash)
    }),
  ],
  [
    'has a key for everyone',
    'keys for links > are not there for strangers',
    withKey(async (source, name) => (await source.linkKey?.(name)) ?? digest(name)),
  ],
  [
    'makes its keys up',
    'keys for links > are the same on every server',
    (source) => {
      const secret = Math.random()
      const linkKey = async (name: string) =>
        (await source.find(name)) && digest(`${secret} ${name}`)
      return { find: (name) => source.find(name), linkKey }
    },
  ],
  [
    'keeps keys for ever',
    'keys for links > change with the password, and with nothing else',
    withKey(async (source, name) => (await source.find(name)) && digest(name)),
  ],
  [
    'changes keys with the quota',
    'keys for links > change with the password, and with nothing else',
    withKey(async (source, name) => {
      const found = await source.find(name)
      return found && digest(JSON.stringify(found))
    }),
  ],
]

export const brokenSources: readonly BrokenSource[] = [...ofFind, ...ofLinkKey]
