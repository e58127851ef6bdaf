import {
  FileServiceError,
  type BlobInfo,
  type BlobStore,
  type CredentialSource,
} from '@holdfast/core'
import { createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import type { BlobStoreHarness } from '../src/support/suite.ts'
import { describeBlobStore, type BlobStoreSuiteOptions } from '../src/describe-blob-store.ts'
import { describeCredentialSource } from '../src/describe-logins.ts'
import { MiB } from '../src/support/content.ts'
import { harnessOf, type BrokenStore } from './broken/broken-store.ts'
import { brokenSources } from './broken/credential-sources.ts'
import { decoding } from './broken/decoding.ts'
import { interrupted } from './broken/interrupted.ts'
import { leaking } from './broken/leaking.ts'
import { listing } from './broken/listing.ts'
import { overwritten } from './broken/overwritten.ts'
import { reading } from './broken/reading.ts'
import { telling } from './broken/telling.ts'
import { writing } from './broken/writing.ts'
import { collectTests, failureOf, run } from './collecting-runner.ts'

const brokenStores: readonly BrokenStore[] = [
  ...writing,
  ...decoding,
  ...interrupted,
  ...reading,
  ...telling,
  ...listing,
  ...overwritten,
  ...leaking,
]
const putMemoryTest = 'streaming > puts 64 MiB within bounded memory'

function testsOf(open: () => Promise<BlobStoreHarness>, options: BlobStoreSuiteOptions = {}) {
  return collectTests((runner) => describeBlobStore('a store', open, { ...options, runner }))
}

describe('describeBlobStore', () => {
  const sound = testsOf(async () => harnessOf())

  for (const { flaw, test, open } of brokenStores) {
    it(`catches a store that ${flaw}`, async () => {
      await run(sound, test)
      expect(await failureOf(testsOf(open), test)).to.be.an.instanceOf(Error)
    })
  }

  it('catches a store that gathers the whole content before it writes', async () => {
    await run(
      testsOf(async () => counting()),
      putMemoryTest,
    )
    const failure = await failureOf(
      testsOf(async () => counting([])),
      putMemoryTest,
    )
    expect(failure).to.have.property('name', 'AssertionError')
  })

  it('catches a store that reads ahead of a slow reader', async () => {
    const test = 'streaming > lets a slow reader read 64 MiB within bounded memory'
    const failure = await failureOf(
      testsOf(async () => harnessOf(readingAhead)),
      test,
    )
    expect(failure).to.have.property('name', 'AssertionError')
  })

  it('disposes of the harness after a failed test', async () => {
    let disposed = 0
    const dispose = async () => {
      disposed++
    }
    const tests = testsOf(async () =>
      harnessOf(() => ({ stat: async () => undefined }), { dispose }),
    )
    await failureOf(tests, 'round trip > keeps 1 bytes as they are')
    expect(disposed).to.equal(1)
  })
})

/** A store that only counts what it is given; with `kept`, it gathers everything first. */
function counting(kept?: Uint8Array[]): BlobStoreHarness {
  return harnessOf(() => ({
    async put({ name }, content) {
      let size = 0
      for await (const chunk of content) {
        kept?.push(chunk)
        size += chunk.length
      }
      return { name, size, modifiedAt: new Date(), etag: 'x' }
    },
  }))
}

function readingAhead(store: BlobStore): Partial<BlobStore> {
  return {
    async open(key, options) {
      const blob = await store.open(key, options)
      async function* content() {
        const copies: Uint8Array[] = []
        for await (const chunk of blob?.content ?? []) copies.push(Uint8Array.from(chunk))
        yield* copies
      }
      return blob && { ...blob, content: content() }
    },
  }
}

describe('describeBlobStore with a store that fails', () => {
  const failingTests = (code: 'insufficient-storage' | 'store-unavailable', kept = 2 * MiB) => {
    const refuse = async (): Promise<never> => {
      throw new FileServiceError(code, 'refused')
    }
    return (close: boolean) =>
      (store: BlobStore): Partial<BlobStore> => ({
        async put(key, content, options) {
          const iterator = content[Symbol.asyncIterator]()
          const parts: Uint8Array[] = []
          for (let size = 0; ;) {
            const step = await iterator.next()
            if (step.done === true) break
            size += step.value.length
            if (size > kept && close) await iterator.return?.()
            if (size > kept) return refuse()
            parts.push(step.value)
          }
          return store.put(key, asContent(parts), options)
        },
        ...(code === 'store-unavailable' && {
          stat: refuse,
          open: refuse,
          delete: refuse,
          usage: refuse,
          list: () => failing(refuse, ['never']),
          listDetails: () => failing<readonly BlobInfo[]>(refuse, []),
          customers: () => failing(refuse, 'never'),
        }),
      })
  }

  const full = failingTests('insufficient-storage')
  const unreachable = failingTests('store-unavailable')

  it('passes stores that refuse in the right way', async () => {
    const tests = testsOf(async () => harnessOf(), {
      openFull: async () => harnessOf(full(true)),
      openUnreachable: async () => harnessOf(unreachable(true)),
    })
    const titles = [...tests.keys()].filter((title) => /^(full|unreachable) > /u.test(title))
    expect(titles).to.have.length(4)
    for (const title of titles) await run(tests, title)
  })

  it('catches stores that leave the content open', async () => {
    const tests = testsOf(async () => harnessOf(), {
      openFull: async () => harnessOf(full(false)),
      openUnreachable: async () => harnessOf(unreachable(false)),
    })
    for (const title of [
      'full > refuses what does not fit and leaves nothing of it',
      'unreachable > refuses a put and closes its content',
    ]) {
      expect(await failureOf(tests, title)).to.have.property('name', 'AssertionError')
    }
  })

  it('catches a store that takes being cut off for absence', async () => {
    const openUnreachable = async () =>
      harnessOf((store) => ({ ...unreachable(true)(store), stat: async () => undefined }))
    const tests = testsOf(async () => harnessOf(), { openUnreachable })
    const failure = await failureOf(tests, 'unreachable > refuses to say what is there')
    expect(failure).to.have.property('name', 'AssertionError')
  })
})

async function* failing<T>(refuse: () => Promise<never>, never: T) {
  await refuse()
  yield never
}

async function* asContent(parts: readonly Uint8Array[]) {
  yield* parts
}

describe('describeCredentialSource', () => {
  const sourceTests = (wrap: (source: CredentialSource) => CredentialSource) =>
    collectTests((runner) =>
      describeCredentialSource(
        'a source',
        async (credentials) => ({
          source: wrap(createMemoryCredentialSource(credentials)),
          dispose: async () => {},
        }),
        {
          runner,
          hasLinkKeys: true,
          hasLogins: true,
          openUnable: async () => ({ source: wrap(unable), dispose: async () => {} }),
        },
      ),
    )
  const unable: CredentialSource = {
    find: async () => {
      throw new Error('the directory is down')
    },
  }
  for (const [flaw, test, wrap] of brokenSources) {
    it(`catches a source that ${flaw}`, async () => {
      await run(
        sourceTests((source) => source),
        test,
      )
      expect(await failureOf(sourceTests(wrap), test)).to.be.an.instanceOf(Error)
    })
  }
})
