import { Readable } from 'node:stream'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { BlobStore, OpenBlob } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import {
  digest,
  pattern,
  chunks,
  generated,
  inChunks,
  KiB,
  MiB,
  slow,
  recorded,
  type RecordedSource,
} from '../support/content.ts'
import {
  expectBlob,
  promptly,
  memoryInUse,
  expectAbsent,
  expectTidy,
  rejection,
} from '../support/expectations.ts'
import type { BlobStoreTest, BlobStoreHarness } from '../support/suite.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const bigSize = 64 * MiB
const readMemory = 16 * MiB

/** Bytes between two measurements: each collects all garbage, which takes long in a process that uses much memory for other tests. */
const lookEvery = 16 * MiB

/** Content is read and written at the consumer's pace; a consumer that stops early leaves nothing open. */
export function streaming(test: BlobStoreTest, putMemory: number): void {
  boundedMemory(test, putMemory)
  readingLazily(test)
  releasing(test)
}

function boundedMemory(test: BlobStoreTest, putMemory: number): void {
  test('puts 64 MiB within bounded memory', async ({ store }) => {
    const before = memoryInUse()
    let most = 0
    async function* watched() {
      let taken = 0
      for await (const chunk of generated(bigSize)) {
        if (taken % lookEvery === 0) most = Math.max(most, memoryInUse() - before)
        taken += chunk.length
        yield chunk
      }
      most = Math.max(most, memoryInUse() - before)
    }
    const { size } = await store.put(key, watched())
    expect(size).to.equal(bigSize)
    expect(most, 'bytes of memory').to.be.below(putMemory)
  })

  test('puts content that comes slowly', async ({ store }) => {
    await store.put(key, slow(pattern(100_000), 4000))
    await expectBlob(store, key, pattern(100_000))
  })

  test('lets a slow reader read 64 MiB within bounded memory', async ({ store }) => {
    await store.put(key, generated(bigSize))
    const blob = await opened(store)
    const before = memoryInUse()
    let read = 0
    let steps = 0
    let looked = 0
    for await (const chunk of blob.content) {
      read += chunk.length
      steps++
      // A store that reads ahead needs time for it; there is no event to wait for if it does not.
      if (steps <= 20) await delay(10)
      if (steps !== 20 && read < looked + lookEvery) continue
      expect(memoryInUse() - before).to.be.below(readMemory)
      looked = read
    }
    expect(read).to.equal(bigSize)
  })
}

function readingLazily(test: BlobStoreTest): void {
  test('reads 50 opened blobs at once', async ({ store }) => {
    const keys = Array.from({ length: 50 }, (_, seed) => ({ ...key, name: `${seed}` }))
    await Promise.all(keys.map((one, seed) => store.put(one, generated(100_000, seed))))
    const blobs = await Promise.all(keys.map((one) => store.open(one)))
    const digests = await Promise.all(blobs.map((blob) => digest(blob?.content ?? [])))
    for (const [seed, found] of digests.entries()) {
      expect(found).to.deep.equal(await digest([pattern(100_000, { seed })]))
    }
  })

  test('leaves alone the chunks that it gave, unless the reader allows reuse', async ({
    store,
  }) => {
    await store.put(key, generated(5 * MiB))
    const blob = await opened(store)
    const kept: Uint8Array[] = []
    for await (const chunk of blob.content) kept.push(chunk)
    expect(await digest(kept)).to.deep.equal(await digest([pattern(5 * MiB)]))
  })

  for (const range of [{ first: 0 }, { first: 1_000_001, last: 3_000_000 }]) {
    const { first, last = 5 * MiB - 1 } = range
    test(`reads bytes ${first} to ${last} in chunks that it may reuse`, async ({ store }) => {
      await store.put(key, generated(5 * MiB))
      const blob = await store.open(key, { range, reuseChunks: true })
      const expected = pattern(5 * MiB).subarray(first, last + 1)
      expect(await digest(slowly(blob?.content ?? []))).to.deep.equal(await digest([expected]))
    })
  }

  test('reads a blob twice at once, each at its own pace', async ({ store }) => {
    await store.put(key, generated(MiB))
    const [fast, lagging] = [await opened(store), await opened(store)]
    const parts: Uint8Array[] = []
    for await (const chunk of lagging.content) {
      if (parts.length === 0) await digest(fast.content)
      parts.push(Uint8Array.from(chunk))
    }
    expect(await digest(parts)).to.deep.equal(await digest([pattern(MiB)]))
  })

  test('leaves chunks alone that it has yielded', async ({ store }) => {
    await store.put(key, generated(MiB))
    const { content } = await opened(store)
    const parts: Uint8Array[] = []
    for await (const chunk of content) parts.push(chunk)
    expect(await digest(parts)).to.deep.equal(await digest([pattern(MiB)]))
  })

  test('feeds a Node stream', async ({ store }) => {
    await store.put(key, generated(300 * KiB))
    const { content } = await opened(store)
    expect(await digest(Readable.from(content))).to.deep.equal(await digest([pattern(300 * KiB)]))
  })
}

function releasing(test: BlobStoreTest): void {
  const endings: Record<string, (blob: OpenBlob) => Promise<unknown>> = {
    'is read to its end': (blob) => digest(blob.content),
    'is closed before reading': (blob) => blob.close(),
    'is closed three times': (blob) => Promise.all([blob.close(), blob.close(), blob.close()]),
    'is closed again after reading': async (blob) => {
      await digest(blob.content)
      await blob.close()
      await blob.close()
    },
    'is read in part': (blob) => readOneChunk(blob),
    'is read in part and closed': async (blob) => {
      await readOneChunk(blob)
      await blob.close()
    },
    'is closed between two chunks': async (blob) => {
      await blob.content[Symbol.asyncIterator]().next()
      await blob.close()
    },
    'is given up by a reader that fails': (blob) => failWhileReading(blob),
    'is given up before the first chunk': async (blob) => {
      await blob.content[Symbol.asyncIterator]().return?.()
    },
    'feeds a Node stream that is destroyed': async (blob) => {
      const stream = Readable.from(blob.content)
      const closed = new Promise((resolve) => stream.once('close', resolve))
      for await (const _ of stream) break
      // The loop stops the stream's iteration, but does not wait until it has ended.
      await closed
    },
  }
  for (const size of [0, 1, 5 * MiB]) {
    for (const [ending, apply] of Object.entries(endings)) {
      test(`holds nothing once a blob of ${size} bytes ${ending}`, async (harness) => {
        await harness.store.put(key, size === 0 ? chunks() : inChunks(pattern(size)))
        await promptly(apply(await opened(harness.store)), 'the reader')
        expect(await harness.heldResources(), 'held resources').to.equal(0)
        await expectBlob(harness.store, key, pattern(size))
      })
    }
  }
}

/** Waits while a chunk is in use, to detect a store that overwrites it too early. */
async function* slowly(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  for await (const chunk of content) {
    await setImmediate()
    yield chunk
  }
}

async function readOneChunk(blob: OpenBlob): Promise<void> {
  for await (const _ of blob.content) break
}

async function failWhileReading(blob: OpenBlob): Promise<void> {
  const reading = async () => {
    for await (const _ of blob.content) throw new Error('the reader failed')
  }
  await reading().catch(() => {})
}

async function opened(store: BlobStore): Promise<OpenBlob> {
  const blob = await store.open(key)
  if (!blob) throw new AssertionError('the blob is missing')
  return blob
}

const old = pattern(100_000, { seed: 7 })

/** Chunks that are not bytes. Most have a `length`, so a store could take them for bytes. */
const refused: Readonly<Record<string, () => unknown>> = {
  'a string': () => 'text',
  'an empty string': () => '',
  'an array of numbers': () => [104, 105],
  'a Uint16Array': () => Uint16Array.of(0x6968, 0x6968),
  'a DataView': () => new DataView(new ArrayBuffer(8)),
  'an ArrayBuffer': () => new ArrayBuffer(8),
  'an object with a length': () => ({ length: 8 }),
  null: () => null,
  undefined: () => undefined,
  'a detached Uint8Array': detached,
}

/** Bytes before the chunk in question: none, some, and more than a store may collect before it sends. */
const sizesBefore = [0, 1000, 9 * MiB]

/** A store refuses a chunk that is no `Uint8Array`, instead of guessing its bytes. */
export function chunksOfBytes(test: BlobStoreTest): void {
  for (const [what, make] of Object.entries(refused)) {
    test(`refuses a chunk that is ${what}`, async (harness) => {
      await expectRefused(harness, contentWith(1000, make()))
      await expectAbsent(harness.store, key)
      expect(await harness.store.usage(key.customer)).to.deep.equal({ blobs: 0, bytes: 0 })
    })
  }

  for (const size of sizesBefore) {
    test(`keeps the earlier blob when a string comes after ${size} bytes`, async (harness) => {
      const info = await harness.store.put(key, inChunks(old))
      await expectRefused(harness, contentWith(size, 'text'))
      expect(await harness.store.stat(key)).to.deep.equal(info)
      await expectBlob(harness.store, key, old)
    })
  }
}

/** Passes if the store refuses `content` by a `TypeError`, closes it, and keeps nothing of it. */
async function expectRefused(harness: BlobStoreHarness, content: RecordedSource): Promise<void> {
  const error = await rejection(harness.store.put(key, content))
  expect(error, 'what the put rejects with').to.be.an.instanceOf(TypeError)
  expect(content.isClosed(), 'the content is closed').to.equal(true)
  await expectTidy(harness)
}

function contentWith(size: number, chunk: unknown): RecordedSource {
  return recorded(
    (async function* () {
      yield* inChunks(pattern(size))
      // Streams yield `any`, so the types do not prevent this.
      yield chunk as Uint8Array
      yield* inChunks(pattern(1000))
    })(),
  )
}

function detached(): Uint8Array {
  const bytes = new Uint8Array(8)
  bytes.buffer.transfer()
  return bytes
}
