import { isFileServiceError, type BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import { expectBlob } from './expectations.ts'
import { pattern } from './pattern.ts'
import { slow } from './sources.ts'

const key = { customer: 'alice', name: 'contended' }

/** Passes when of create-only puts, one through each of `stores` at once, exactly one succeeds and its blob is kept. */
export async function expectOneWinner(stores: readonly BlobStore[]): Promise<void> {
  const contentOf = (index: number) => pattern(70_000 + index, { seed: index })
  const outcomes = await Promise.allSettled(
    stores.map((store, index) => store.put(key, slow(contentOf(index)), { createOnly: true })),
  )
  const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === 'fulfilled')
  expect(winners, 'winners').to.have.length(1)
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    expect(isFileServiceError(outcome.reason, 'already-exists'), String(outcome.reason)).to.equal(
      true,
    )
  }
  for (const store of stores) {
    for (const winner of winners) await expectBlob(store, key, contentOf(winner))
  }
}
