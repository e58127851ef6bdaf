import { expect } from 'chai'
import type { BlobStoreHarness, BlobStoreTest } from '../../support/blob-store-harness.ts'
import { expectAbsent, expectBlob, expectTidy, rejection } from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { inChunks, MiB, recorded, type RecordedSource } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const old = pattern(100_000, { seed: 7 })

/** Chunks that are not bytes. Most have a `length`, and could be taken for so many bytes. */
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

/** Bytes before the chunk in question: none, some, and more than a store may gather before it sends. */
const sizesBefore = [0, 1000, 9 * MiB]

/** What is no `Uint8Array` is refused, and never taken for the bytes that it may stand for. */
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

/** Passes when `content` is refused by a `TypeError` and closed, and nothing of it lies around. */
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
      // Streams yield `any`, so that the types do not prevent it.
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
