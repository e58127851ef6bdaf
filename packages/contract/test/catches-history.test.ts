import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { describeHistory } from '../src/describe-history.ts'
import type { BlobStoreHarness } from '../src/support/suite.ts'
import { harnessOf } from './broken/broken-store.ts'
import { historyFlaws, unreachableHistory } from './broken/history.ts'
import { collectTests, failureOf, run } from './collecting-runner.ts'

describe('describeHistory', () => {
  const testsOf = (open: () => Promise<BlobStoreHarness>, isSound = true) =>
    collectTests((runner) =>
      describeHistory('a store', open, {
        runner,
        ...{ manyVersions: 40, clockToleranceMs: 50 },
        openUnreachable: async () => harnessOf(() => unreachableHistory(isSound)),
      }),
    )
  const sound = testsOf(async () => harnessOf())
  const unreachable = 'unreachable > rejects with store-unavailable'

  for (const { flaw, test, open } of historyFlaws) {
    it(`catches a store that ${flaw}: ${test}`, async () => {
      await run(sound, test)
      expect(await failureOf(testsOf(open), test)).to.be.an.instanceOf(Error)
    })
  }

  it('catches a store that takes being cut off for nothing kept', async () => {
    await run(sound, unreachable)
    const tests = testsOf(async () => harnessOf(), false)
    expect(await failureOf(tests, unreachable)).to.have.property('name', 'AssertionError')
  })

  it('catches a store that has no history', async () => {
    const store: BlobStore = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'history')
    const tests = testsOf(async () => ({ ...harnessOf(), store }))
    const failure = await failureOf(tests, 'what is kept > is what was deleted')
    expect(failure).to.have.property('message', 'the store has no property "history"')
  })

  it('has a broken store for each test', () => {
    const caught = new Set([unreachable, ...historyFlaws.map(({ test }) => test)])
    expect([...sound.keys()].filter((title) => !caught.has(title))).to.deep.equal([])
  })
})
