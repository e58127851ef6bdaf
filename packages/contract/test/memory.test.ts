import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Suite } from 'mocha'
import { createKeyedCounter, createQuotaKeeper, createRevocableLocks } from '@holdfast/core'
import {
  createMemoryBlobStore,
  createMemoryCredentialSource,
  createMemoryFailureCounter,
} from '@holdfast/core/memory'
import { expect } from 'chai'
import { describeBlobStore } from '../src/describe-blob-store.ts'
import { describeCredentialSource } from '../src/describe-logins.ts'
import { describeExpiry } from '../src/describe-expiry.ts'
import { describeFailureCounter, describeUseCounter } from '../src/describe-counters.ts'
import { describeHistory } from '../src/describe-history.ts'
import { describeQuotaKeeper } from '../src/describe-quota-keeper.ts'
import { describeLinkGenerations } from '../src/describe-link-generations.ts'
import { describeRenaming } from '../src/describe-renaming.ts'
import { describeResumableUploads } from '../src/describe-resumable-uploads.ts'
import { describeRevocableLocks } from '../src/describe-revocable-locks.ts'
import { MiB } from '../src/support/content.ts'

async function open() {
  const store = createMemoryBlobStore()
  return {
    store,
    openAgain: async () => store,
    litter: async () => [],
    heldResources: async () => 0,
    dispose: async () => {},
  }
}

describeBlobStore('the memory store', open, { putMemory: 160 * MiB })
describeLinkGenerations('the memory store', open)

describeExpiry('the memory store', open)
describeHistory('the memory store', open)
describeRenaming('the memory store', open)
describeResumableUploads('the memory store', open, { appendMemory: 544 * MiB })

describeCredentialSource(
  'the memory credential source',
  async (credentials) => ({
    source: createMemoryCredentialSource(credentials),
    dispose: async () => {},
  }),
  { hasLinkKeys: true, hasLogins: true },
)

describeFailureCounter('the memory failure counter', async (windowMs) => {
  let time = 0
  return {
    counter: createMemoryFailureCounter({ windowMs, now: () => time }),
    pass: async (milliseconds) => void (time += milliseconds),
    dispose: async () => {},
  }
})

describeQuotaKeeper('the keeper of this process', async () => {
  const store = createMemoryBlobStore()
  return { keepers: [createQuotaKeeper(store)], store, dispose: async () => {} }
})

describeUseCounter('the counter of this process', async () => ({
  counters: [createKeyedCounter()],
  allowance: 0,
  settle: async () => {},
  endLast: async () => {},
  dispose: async () => {},
}))

describeRevocableLocks('the locks of this process', async () => ({
  takers: [createRevocableLocks()],
  revoke: async () => {},
  endFirst: async () => {},
  dispose: async () => {},
}))

describe('results.md', () => {
  it('has a line for each test of a store; node scripts/write-matrix.ts writes it', async function () {
    const results = await readFile(join(import.meta.dirname, '../results.md'), 'utf8')
    const lines = new Set(results.split('\n').map((line) => line.replace(/^((ok|-) +)+/, '')))
    const stores = this.test!.parent!.parent!.suites.filter(({ title }) =>
      title.startsWith('the memory store'),
    )
    const titles = stores.flatMap(({ suites }) => suites).flatMap((group) => titlesIn(group))
    // Others stand there by their code points.
    const plain = titles.filter((title) => /^[ -~]+$/.test(title) && !/(.)\1{20}/.test(title))
    expect(plain.length).to.be.above(400)
    expect(plain.filter((title) => !lines.has(title))).to.deep.equal([])
  })
})

/** The titles of the tests in `suite`, each after those of the suites within that lead to it, with ` > ` between. */
function titlesIn({ tests, suites }: Suite): string[] {
  const within = suites.flatMap((suite) =>
    titlesIn(suite).map((title) => `${suite.title} > ${title}`),
  )
  return [...tests.map(({ title }) => title), ...within]
}
