import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import { isFileServiceError } from '../../src/model/errors.ts'
import type { LocalClaim } from '../../src/policy/quota-claim.ts'
import { chunks } from '../content.ts'
import { turn } from '../turn.ts'
import { bookkeeping, type Bookkeeping } from './bookkeeping.ts'

const alice = { name: 'alice', quota: 100 }
const runs = 300

describe('createQuotaKeeper', () => {
  it('keeps the quota and exact books in any interleaving', async () => {
    let published = 0
    let refused = 0
    for (let seed = 1; seed <= runs; seed++) {
      const outcomes = await interleave(seed)
      published += outcomes.published
      refused += outcomes.refused
    }
    // Otherwise the interleavings would have proved little.
    expect(published).to.be.above(runs)
    expect(refused).to.be.above(runs)
  })
})

interface Outcomes {
  published: number
  refused: number
}

/** A dozen uploads and deletions at once, of a few names; some uploads are given up, at any moment. */
async function interleave(seed: number): Promise<Outcomes> {
  const random = seeded(seed)
  const books = bookkeeping()
  const outcomes = { published: 0, refused: 0 }
  const someTurns = async () => {
    for (let turns = random(4); turns > 0; turns--) await turn()
  }
  const act = async () => {
    await someTurns()
    const name = `file ${random(3)}`
    if (random(4) === 0) await remove(books, name, someTurns)
    else await upload(books, name, random, someTurns, outcomes)
    expect((await books.store.usage('alice')).bytes, `seed ${seed}`).to.be.at.most(100)
  }
  // What is there when it is asked for, reported later.
  books.overrides.stat = async (key) => {
    const found = await books.store.stat(key)
    await someTurns()
    return found
  }
  // Keeps the customer busy, so that the books are never repaired by a new count.
  const busy = await books.keeper.claim(alice, 'busy')
  await Promise.all(Array.from({ length: 12 }, act))
  const { bytes } = await books.store.usage('alice')
  expect(await books.room(alice), `room after seed ${seed}`).to.equal(100 - bytes)
  expect(books.counts()).to.equal(1)
  busy.end()
  return outcomes
}

async function upload(
  { keeper, store }: Bookkeeping,
  name: string,
  random: (below: number) => number,
  someTurns: () => Promise<void>,
  outcomes: Outcomes,
): Promise<void> {
  const giveUpAfter = random(8)
  const sizes = [random(20), random(20), random(20)]
  // Half of them announce a size, which is right, too small or too large.
  const announced = (sizes[0] ?? 0) + (sizes[1] ?? 0) + random(40)
  let size = 0
  let claim: LocalClaim | undefined
  try {
    claim = await keeper.claim(alice, name, random(2) === 0 ? 0 : announced)
    for (const [chunk, bytes] of sizes.entries()) {
      void claim.grow(bytes)
      size += bytes
      await someTurns()
      if (chunk === giveUpAfter) return
    }
    await claim.prepare()
    await someTurns()
    if (giveUpAfter === 3) return
    await store.put({ customer: 'alice', name }, chunks(size))
    claim.settle()
    outcomes.published++
  } catch (error) {
    if (!isFileServiceError(error, 'quota-exceeded')) throw error
    outcomes.refused++
  } finally {
    claim?.end()
  }
}

async function remove(
  { keeper, store }: Bookkeeping,
  name: string,
  someTurns: () => Promise<void>,
): Promise<void> {
  await keeper.free(alice, name, async () => {
    await someTurns()
    const removed = await store.delete({ customer: 'alice', name })
    await someTurns()
    return removed
  })
}
