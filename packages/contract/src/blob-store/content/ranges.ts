import type { BlobInfo, ByteRange, OpenBlob, RangeRequest } from '@holdfast/core'
import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/suite.ts'
import { digest, pattern } from '../../support/pattern.ts'
import { chunks, generated, inChunks, MiB } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const size = 200_000
const max = Number.MAX_SAFE_INTEGER

const satisfiable: readonly (readonly [string, RangeRequest, ByteRange])[] = [
  ['the first byte', { first: 0, last: 0 }, { offset: 0, length: 1 }],
  ['the first three bytes', { first: 0, last: 2 }, { offset: 0, length: 3 }],
  ['the last byte', { first: 199_999, last: 199_999 }, { offset: 199_999, length: 1 }],
  ['one byte in the middle', { first: 100_000, last: 100_000 }, { offset: 100_000, length: 1 }],
  ['bytes across 64 KiB', { first: 65_535, last: 65_537 }, { offset: 65_535, length: 3 }],
  ['exactly 64 KiB', { first: 65_536, last: 131_071 }, { offset: 65_536, length: 65_536 }],
  ['everything', { first: 0, last: 199_999 }, { offset: 0, length: size }],
  ['from the start on', { first: 0 }, { offset: 0, length: size }],
  ['from the middle on', { first: 123_456 }, { offset: 123_456, length: 76_544 }],
  ['from the last byte on', { first: 199_999 }, { offset: 199_999, length: 1 }],
  ['past the end', { first: 199_000, last: 200_000 }, { offset: 199_000, length: 1000 }],
  ['far past the end', { first: 1, last: max }, { offset: 1, length: 199_999 }],
  ['the last byte by suffix', { suffixLength: 1 }, { offset: 199_999, length: 1 }],
  ['the last 70000 bytes', { suffixLength: 70_000 }, { offset: 130_000, length: 70_000 }],
  ['a suffix of all', { suffixLength: size }, { offset: 0, length: size }],
  ['a suffix longer than the blob', { suffixLength: size + 1 }, { offset: 0, length: size }],
  ['a suffix far longer than the blob', { suffixLength: max }, { offset: 0, length: size }],
]

const unsatisfiable: readonly (readonly [string, RangeRequest])[] = [
  ['right after the end', { first: size }],
  ['right after the end, closed', { first: size, last: size + 10 }],
  ['far after the end', { first: max - 1, last: max }],
  ['a suffix of nothing', { suffixLength: 0 }],
]

/** A range selects exactly the bytes of RFC 9110 §14.1.2. */
export function ranges(test: BlobStoreTest): void {
  for (const [title, range, expected] of satisfiable) {
    test(`reads ${title}`, async ({ store }) => {
      const info = await store.put(key, generated(size))
      const blob = await store.open(key, { range })
      expect(blob?.range).to.deep.equal(expected)
      expect(blob?.info, 'info is of the whole blob').to.deep.equal(info)
      const wanted = await digest([pattern(expected.length, { offset: expected.offset })])
      expect(await digest(blob?.content ?? [])).to.deep.equal(wanted)
      if (blob?.bytes) expect(await digest([blob.bytes]), 'bytes').to.deep.equal(wanted)
    })
  }

  for (const [title, range] of unsatisfiable) {
    test(`selects nothing ${title}`, async ({ store }) => {
      const info = await store.put(key, generated(size))
      await expectNothingSelected(await store.open(key, { range }), info)
    })
  }

  for (const range of [{ first: 0 }, { first: 0, last: 0 }, { suffixLength: 5 }]) {
    test(`selects nothing of an empty blob by ${JSON.stringify(range)}`, async ({ store }) => {
      const info = await store.put(key, chunks())
      await expectNothingSelected(await store.open(key, { range }), info)
    })
  }

  test('reads a few bytes deep inside 16 MiB', async ({ store }) => {
    await store.put(key, generated(16 * MiB))
    const first = 16 * MiB - 100_001
    const blob = await store.open(key, { range: { first, last: first + 99 } })
    expect(await digest(blob?.content ?? [])).to.deep.equal(
      await digest([pattern(100, { offset: first })]),
    )
  })

  test('reads a range of the blob that was opened after that is replaced', async ({ store }) => {
    await store.put(key, generated(size))
    const blob = await store.open(key, { range: { suffixLength: 1000 } })
    await store.put(key, inChunks(pattern(10, { seed: 2 })))
    expect(await digest(blob?.content ?? [])).to.deep.equal(
      await digest([pattern(1000, { offset: size - 1000 })]),
    )
  })
}

async function expectNothingSelected(blob: OpenBlob | undefined, info: BlobInfo): Promise<void> {
  expect(blob?.info).to.deep.equal(info)
  expect(blob).to.have.property('range', undefined)
  expect((await digest(blob?.content ?? [])).size).to.equal(0)
  await blob?.close()
}
