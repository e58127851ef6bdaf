import {
  type ResumableUpload,
  isFileServiceError,
  type ResumableUploads,
  type UploadKey,
} from '@holdfast/core'
import { expect, AssertionError } from 'chai'
import {
  expectBlob,
  expectRefusal,
  rejection,
  memoryInUse,
  collect,
  promptly,
} from '../support/expectations.ts'
import {
  pattern,
  digest,
  chunks,
  inChunks,
  MiB,
  recorded,
  slow,
  withEmptyChunks,
  generated,
  gated,
} from '../support/content.ts'
import {
  begin,
  expectBytes,
  key,
  offsetOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { stalledAppend } from './failures.ts'

/** Lengths of consecutive appends; each store collects, joins and splits them in its own way. */
const pieces: Readonly<Record<string, readonly number[]>> = {
  'one byte': [1],
  'no byte, and then some': [0, 3, 0, 2],
  'odd sizes': [1, 70_000, 65_536, 65_535, 17],
  'ascending sizes': [1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
}

/** Appended bytes keep their order, and the next append begins where the last one has ended. */
export function appending(test: ResumableTest, manyAppends: number): void {
  piecesInOrder(test, manyAppends)
  offsets(test)
  states(test)
  takingContent(test)
}

function piecesInOrder(test: ResumableTest, manyAppends: number): void {
  for (const [what, sizes] of Object.entries(pieces)) {
    test(`keeps ${what}`, async ({ uploads, store }) => {
      const upload = await begin(uploads)
      let offset = 0
      for (const size of sizes) {
        const reached = await uploads.append(upload, offset, inChunks(pattern(size, { offset })))
        expect(reached, 'the new offset').to.equal(offset + size)
        offset += size
        expect(await offsetOf(uploads, upload), 'state').to.equal(offset)
      }
      await expectBytes(uploads, upload, pattern(offset))
      await uploads.publish(upload)
      await expectBlob(store, key, pattern(offset))
    })
  }

  test('keeps many appends of one byte, and few things for them', async (harness) => {
    const { uploads, store } = harness
    const upload = await begin(uploads)
    for (let offset = 0; offset < manyAppends; offset++) {
      await uploads.append(upload, offset, chunks(pattern(1, { offset })))
    }
    expect((await harness.litter()).length, 'temporary things').to.be.below(30)
    await expectBytes(uploads, upload, pattern(manyAppends))
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(manyAppends))
  })

  test('goes on through another opening, and back', async ({ uploads, openAgain, store }) => {
    const upload = await begin(uploads, { length: 900_000 })
    const other = uploadsOf(await openAgain())
    for (const [at, opening] of [uploads, other, uploads, other, other, uploads].entries()) {
      const offset = at * 150_000
      await opening.append(upload, offset, inChunks(pattern(150_000, { offset })))
      for (const each of [uploads, other]) {
        expect(await offsetOf(each, upload), 'state').to.equal(offset + 150_000)
      }
    }
    await other.publish(upload)
    await expectBlob(store, key, pattern(900_000))
  })

  test('keeps several uploads of one name apart', async ({ uploads, store }) => {
    const begun = await Promise.all(Array.from({ length: 10 }, () => begin(uploads)))
    const each = async (seed: number, offset: number) => {
      const bytes = pattern(1000, { seed, offset })
      await uploads.append(begun[seed] ?? { ...key, id: '' }, offset, slow(bytes, 100))
    }
    await Promise.all(begun.map((_, seed) => each(seed, 0)))
    await Promise.all(begun.map((_, seed) => each(seed, 1000)))
    for (const [seed, upload] of begun.entries()) {
      await expectBytes(uploads, upload, pattern(2000, { seed }))
      await uploads.publish(upload)
      await expectBlob(store, key, pattern(2000, { seed }))
    }
  })
}

function offsets(test: ResumableTest): void {
  for (const offset of [0, 999, 1001, 5000, Number.MAX_SAFE_INTEGER]) {
    test(`refuses to append at ${offset} to 1000 bytes, and takes no content`, async (harness) => {
      const { uploads } = harness
      const upload = await begin(uploads)
      await uploads.append(upload, 0, inChunks(pattern(1000)))
      const content = recorded(inChunks(pattern(10)))
      await expectRefusal(uploads.append(upload, offset, content), 'upload-conflict')
      expect(content.asked(), 'chunks asked for').to.equal(0)
      expect(content.isClosed(), 'content is closed').to.equal(true)
      await expectBytes(uploads, upload, pattern(1000))
    })
  }
}

function states(test: ResumableTest): void {
  for (const allOrNothing of [false, true]) {
    const what = allOrNothing ? 'all or nothing' : 'what comes'
    test(`reports the state that it finds, and each that is durable, of ${what}`, async (harness) => {
      const { uploads } = harness
      const upload = await begin(uploads, { length: 300_000, note: 'n' })
      await uploads.append(upload, 0, inChunks(pattern(100_000)))
      const before = await uploads.state(upload)
      const states: ResumableUpload[] = []
      const source = recorded(inChunks(pattern(50_000, { offset: 100_000 })))
      const onState = (state: ResumableUpload) => {
        if (states.length === 0) expect(source.asked(), 'chunks asked for').to.equal(0)
        states.push(state)
      }
      await uploads.append(upload, 100_000, source, { onState, allOrNothing })
      expect(states[0]).to.deep.equal(before)
      expect(states.at(-1)).to.deep.equal(await uploads.state(upload))
      const offsets = states.map(({ offset }) => offset)
      expect(offsets).to.deep.equal(offsets.toSorted((a, b) => a - b))
      if (allOrNothing) expect(offsets).to.deep.equal([100_000, 150_000])
    })
  }

  test('reports the state where an append has no byte', async ({ uploads }) => {
    const upload = await begin(uploads)
    const states: ResumableUpload[] = []
    await uploads.append(upload, 0, inChunks(pattern(0)), {
      onState: (state) => states.push(state),
    })
    expect(states.length).to.be.at.least(1)
    expect(states.at(-1)).to.deep.equal(await uploads.state(upload))
  })
}

function takingContent(test: ResumableTest): void {
  test('takes content one chunk at a time, and iterates it once', async ({ uploads }) => {
    const upload = await begin(uploads)
    const content = recorded(inChunks(pattern(MiB)))
    await uploads.append(upload, 0, content)
    expect(content.iterations(), 'iterations').to.equal(1)
    expect(content.mostAskedAtOnce(), 'chunks asked for at once').to.equal(1)
    await expectBytes(uploads, upload, pattern(MiB))
  })

  test('takes empty chunks for nothing', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, withEmptyChunks(pattern(200_000)))
    await expectBytes(uploads, upload, pattern(200_000))
  })

  test('takes content that comes slowly', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, slow(pattern(50_000), 4000))
    await expectBytes(uploads, upload, pattern(50_000))
  })

  for (const [what, chunk] of Object.entries({ 'a string': 'text', 'an array': [1, 2] })) {
    test(`refuses a chunk that is ${what}, and keeps what came before`, async ({ uploads }) => {
      const upload = await begin(uploads)
      async function* content() {
        yield* inChunks(pattern(1000))
        // Streams yield `any`, so the types do not prevent this.
        yield chunk as unknown as Uint8Array
      }
      const source = recorded(content())
      const error = await rejection(uploads.append(upload, 0, source))
      expect(error).to.be.an.instanceOf(TypeError)
      expect(source.isClosed(), 'content is closed').to.equal(true)
      await expectBytes(uploads, upload, pattern(1000))
    })
  }

  test('releases a chunk once at most, and only when it may be overwritten', async (harness) => {
    const { uploads } = harness
    const upload = await begin(uploads)
    const released = new Set<Uint8Array>()
    const release = (chunk: Uint8Array) => {
      expect(released.has(chunk), 'released twice').to.equal(false)
      released.add(chunk)
      chunk.fill(0)
    }
    const bytes = pattern(6 * MiB)
    await uploads.append(upload, 0, inChunks(Uint8Array.from(bytes)), { release })
    await expectBytes(uploads, upload, bytes)
  })

  test('has copied or written all chunks by the time it resolves', async ({ uploads }) => {
    const upload = await begin(uploads)
    const bytes = pattern(200_000)
    await uploads.append(upload, 0, inChunks(bytes))
    bytes.fill(0)
    await expectBytes(uploads, upload, pattern(200_000))
  })
}

/** Sizes near those of parts in buckets, in an order in which small rests meet whole parts. */
const sizes = [5 * MiB - 1, 1, 5 * MiB, 3, 5 * MiB + 1, 8 * MiB, 70_000]

const bigSize = 272 * MiB
/** The most bytes that a crash may lose. */
const mostAtRisk = 256 * MiB

/** Appends pieces that the store must collect, split and join, and one that does not fit into memory. */
export function bigAppends(test: ResumableTest, appendMemory: number): void {
  test('keeps pieces of several MiB', async ({ uploads, store }) => {
    const total = sizes.reduce((sum, size) => sum + size, 0)
    const bytes = pattern(total)
    const upload = await begin(uploads, { length: total })
    let offset = 0
    for (const size of sizes) {
      const piece = inChunks(bytes.subarray(offset, offset + size))
      offset = await uploads.append(upload, offset, piece)
      expect(await offsetOf(uploads, upload)).to.equal(offset)
    }
    expect(await digest(uploads.content(upload))).to.deep.equal(await digest([bytes]))
    await uploads.publish(upload)
    await expectBlob(store, key, bytes)
  })

  test('takes 272 MiB in bounded memory, and all but 256 MiB are durable meanwhile', async (harness) => {
    const { uploads, openAgain } = harness
    const upload = await begin(uploads)
    const stalled = Promise.withResolvers<undefined>()
    const before = memoryInUse()
    let most = 0
    async function* content() {
      let taken = 0
      for await (const chunk of generated(bigSize)) {
        if (taken % (16 * MiB) === 0) most = Math.max(most, memoryInUse() - before)
        taken += chunk.length
        yield chunk
      }
      most = Math.max(most, memoryInUse() - before)
      stalled.resolve(undefined)
      await new Promise(() => {})
    }
    const append = uploads.append(upload, 0, content())
    append.catch(() => {})
    await Promise.race([stalled.promise, append])
    const other = uploadsOf(await openAgain())
    expect(await offsetOf(other, upload), 'durable').to.be.at.least(bigSize - mostAtRisk)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    expect(await offsetOf(uploads, upload), 'offset').to.equal(bigSize)
    expect(most, 'bytes of memory').to.be.below(appendMemory)
    await uploads.discard(upload)
  })
}

/** Of several simultaneous appends to one upload only one continues, and the bytes of two are never mixed. */
export function appendsAtOnce(test: ResumableTest): void {
  test('lets a later append end a stalled one', async ({ uploads, store }) => {
    const upload = await begin(uploads)
    const earlier = await stalledAppend(uploads, upload, 1000)
    const more = inChunks(pattern(1000, { offset: 1000 }))
    expect(await promptly(uploads.append(upload, 1000, more), 'the later one')).to.equal(2000)
    await expectRefusal(earlier.append, 'upload-conflict', 'the earlier append')
    expect(earlier.source.isClosed(), 'the earlier content is closed').to.equal(true)
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(2000))
  })

  test('lets a later append end a stalled one, and then compares its offset', async (harness) => {
    const { uploads } = harness
    const upload = await begin(uploads)
    const earlier = await stalledAppend(uploads, upload, 1000)
    const later = uploads.append(upload, 0, inChunks(pattern(500, { seed: 2 })))
    await expectRefusal(later, 'upload-conflict', 'the later append')
    await expectRefusal(earlier.append, 'upload-conflict', 'the earlier append')
    await expectBytes(uploads, upload, pattern(1000))
  })

  test('takes nothing more of an append that has been ended', async ({ uploads }) => {
    const upload = await begin(uploads)
    const late = pattern(1000, { offset: 1000, seed: 3 })
    const { content, stalled, release } = gated(pattern(1000), late)
    const earlier = uploads.append(upload, 0, content)
    await promptly(stalled, 'taking the content')
    const later = uploads.append(upload, 1000, slow(pattern(1000, { offset: 1000 }), 100))
    release()
    await Promise.all([expectRefusal(earlier, 'upload-conflict'), later])
    await expectBytes(uploads, upload, pattern(2000))
  })

  test('mixes no bytes of ten appends at once', async ({ uploads }) => {
    const all = Array.from({ length: 10 }, () => uploads)
    await expectUnmixed(all, await begin(uploads))
  })

  test('mixes no bytes of ten appends at once through two openings', async (harness) => {
    const { uploads, openAgain } = harness
    const other = uploadsOf(await openAgain())
    const all = Array.from({ length: 10 }, (_, at) => (at % 2 ? uploads : other))
    await expectUnmixed(all, await begin(uploads))
  })

  test('mixes no bytes with those of a stalled append of another opening', async (harness) => {
    const { uploads, openAgain } = harness
    const upload = await begin(uploads)
    const { content, stalled, release } = gated(bytesOf(1, 1000), bytesOf(1, 1000))
    const first = uploads.append(upload, 0, content)
    await promptly(stalled, 'taking the content')
    const other = uploadsOf(await openAgain())
    const second = other.append(upload, 0, inChunks(bytesOf(2, 1500)))
    // The second append may be refused, or continue in place of the first, which must then fail; the test checks that below.
    first.catch(() => {})
    await second.catch(() => {})
    release()
    const outcomes = await Promise.allSettled([first, second])
    await expectOneWriter(other, upload, outcomes)
  })
}

/** Passes if simultaneous appends of different bytes at offset 0, one through each of `all`, are not mixed. */
async function expectUnmixed(all: readonly ResumableUploads[], upload: UploadKey): Promise<void> {
  const outcomes = await Promise.allSettled(
    all.map((uploads, at) => uploads.append(upload, 0, slow(bytesOf(at + 1, 5000 + at), 1000))),
  )
  for (const uploads of new Set(all)) await expectOneWriter(uploads, upload, outcomes)
}

/** Bytes that all have the number of their writer. */
function bytesOf(writer: number, size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(writer)
}

/** Passes if all bytes are from one writer; if that one's append resolved, all of its bytes are there. */
async function expectOneWriter(
  uploads: ResumableUploads,
  upload: UploadKey,
  outcomes: readonly PromiseSettledResult<number>[],
): Promise<void> {
  const bytes = Buffer.concat(await collect(uploads.content(upload)))
  expect(bytes.length, 'bytes and offset').to.equal(await offsetOf(uploads, upload))
  expect(new Set(bytes).size, 'writers of the bytes').to.be.at.most(1)
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') {
      expect(bytes[0], 'the writer that was acknowledged').to.equal(at + 1)
      expect(bytes.length, 'its bytes').to.equal(outcome.value)
    } else if (!isFileServiceError(outcome.reason, 'upload-conflict')) {
      throw new AssertionError(`rejected with ${String(outcome.reason)}`)
    }
  }
}
