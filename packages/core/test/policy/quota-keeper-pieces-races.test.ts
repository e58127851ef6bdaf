import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import { isFileServiceError } from '../../src/model/errors.ts'
import type { ResumableUploads } from '../../src/ports/resumable-uploads.ts'
import { chunks } from '../content.ts'
import { turn } from '../turn.ts'
import { bookkeeping, type Bookkeeping } from './bookkeeping.ts'
import { piecesOf, type Pieces } from './pieces.ts'

const quota = 60
const alice = { name: 'alice', quota }
const runs = 300

describe('createQuotaKeeper with uploads in pieces', () => {
  it('keeps the quota and exact books in any interleaving', async () => {
    const outcomes = { published: 0, appended: 0, taken: 0, refused: 0, discarded: 0 }
    for (let seed = 1; seed <= runs; seed++) await interleave(seed, outcomes)
    // Otherwise the interleavings would have proved little.
    for (const count of Object.values(outcomes)) expect(count).to.be.above(runs / 10)
  })
})

interface Play {
  readonly books: Bookkeeping
  readonly pieces: Pieces
  readonly random: (below: number) => number
  readonly someTurns: () => Promise<void>
  readonly outcomes: Outcomes
}

type Outcomes = Record<'published' | 'appended' | 'taken' | 'refused' | 'discarded', number>

/** Pieces of three uploads to two names, of which some break off or take over, beside files that come and go. */
async function interleave(seed: number, outcomes: Outcomes): Promise<void> {
  const random = seeded(seed)
  const books = bookkeeping()
  const pieces = piecesOf(books)
  const someTurns = async () => {
    for (let turns = random(4); turns > 0; turns--) await turn()
  }
  books.overrides.stat = async (key) => {
    const found = await books.store.stat(key)
    await someTurns()
    return found
  }
  const play: Play = { books, pieces, random, someTurns, outcomes }
  const names = ['file 0', 'file 1', 'file 1']
  const ids = await Promise.all(names.map((name) => pieces.begin(alice, name)))
  // Keeps the customer busy, so that the books are never repaired by a new count.
  const busy = await books.keeper.claim(alice, 'busy')
  const act = async () => {
    await someTurns()
    await actOn(play, ids[random(3)] ?? '', `file ${random(3)}`)
    // What is unfinished may exceed the quota meanwhile, by the file that it is going to replace.
    expect((await books.store.usage('alice')).bytes, `seed ${seed}`).to.be.at.most(quota)
  }
  await Promise.all(Array.from({ length: 16 }, act))
  const free = quota - (await used(books, pieces.uploads))
  const room = await books.room(alice).catch(() => 'none')
  expect(room, `room after seed ${seed}`).to.equal(free < 0 ? 'none' : free)
  expect(books.counts()).to.equal(1)
  busy.end()
}

async function actOn(play: Play, id: string, name: string): Promise<void> {
  const { books, pieces, random, outcomes } = play
  try {
    const choice = random(12)
    if (choice === 0) await books.put(alice, name, random(30))
    else if (choice === 1) await books.remove(alice, name)
    else if (choice === 2) {
      await pieces.discard(alice, id)
      outcomes.discarded++
    } else if (choice < 6) {
      await pieces.publish(alice, id)
      outcomes.published++
    } else await append(play, id)
  } catch (error) {
    if (isFileServiceError(error, 'quota-exceeded')) outcomes.refused++
    else if (isFileServiceError(error, 'upload-conflict')) outcomes.taken++
    else if (!isGone(error)) throw error
  }
}

async function append({ books, pieces, random, someTurns, outcomes }: Play, id: string) {
  const { uploads } = pieces
  const key = { customer: 'alice', id }
  const upload = await uploads.state(key)
  if (upload === undefined || upload.published) return
  const { plan, offset } = upload
  const size = random(2) === 0 ? 0 : random(40)
  const claim = await books.keeper.claim(alice, plan.name, size, id)
  async function* content() {
    for (let left = random(4); left > 0; left--) {
      const bytes = random(20)
      void claim.grow(bytes)
      yield* chunks(bytes)
      await someTurns()
    }
    if (random(4) === 0) throw gone()
  }
  try {
    await uploads.append(key, offset, content())
    outcomes.appended++
  } finally {
    const after = await uploads.state(key)
    claim.stage(after && !after.published ? after.offset : 0)
    claim.end()
  }
}

/** Bytes of files and of unfinished uploads. */
async function used({ store }: Bookkeeping, uploads: ResumableUploads): Promise<number> {
  let { bytes } = await store.usage('alice')
  for await (const page of uploads.list('alice')) {
    for (const { offset } of page) bytes += offset
  }
  return bytes
}

const gone = () => new Error('There is no such upload')
const isGone = (error: unknown) =>
  isFileServiceError(error, 'upload-not-found') ||
  (error instanceof Error && error.message === gone().message)
