import { Readable } from 'node:stream'
import type { BlobInfo, ByteRange, OpenBlob, RangeRequest } from '@holdfast/core'
import { expect } from 'chai'
import {
  pattern,
  chunks,
  generated,
  inChunks,
  KiB,
  MiB,
  recorded,
  withEmptyChunks,
  digest,
} from '../support/content.ts'
import { expectBlob } from '../support/expectations.ts'
import type { BlobStoreTest } from '../support/suite.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const sizes = [0, 1, 65_535, 65_536, 65_537, 5 * MiB - 1, 5 * MiB, 5 * MiB + 1, 16 * MiB]

/** Blobs of any size, in any chunks, are read back unchanged, and the store describes them correctly. */
export function roundTrip(test: BlobStoreTest): void {
  for (const size of sizes) {
    test(`keeps ${size} bytes as they are`, async ({ store }) => {
      await store.put(key, generated(size))
      await expectBlob(store, key, pattern(size))
    })
  }
  takesAnyChunks(test)
  releasesChunks(test)
  readsBack(test)
  describesBlobs(test)
}

function takesAnyChunks(test: BlobStoreTest): void {
  const bytes = pattern(10_000)
  const cuts: Record<string, () => AsyncIterable<Uint8Array>> = {
    'chunks of one byte': () => inChunks(bytes, 1),
    'empty chunks before, between and after others': () => withEmptyChunks(bytes, 3000),
    'one chunk': () => chunks(bytes),
    'views into larger buffers': () => inChunks(Buffer.concat([bytes]), 777),
    'a Node stream': () => Readable.from(inChunks(Buffer.from(bytes), 999)),
  }
  for (const [cut, content] of Object.entries(cuts)) {
    test(`takes content as ${cut}`, async ({ store }) => {
      await store.put(key, content())
      await expectBlob(store, key, bytes)
    })
  }

  test('takes content of nothing but empty chunks for an empty blob', async ({ store }) => {
    await store.put(key, chunks(new Uint8Array(), new Uint8Array()))
    await expectBlob(store, key, new Uint8Array())
  })

  test('takes one chunk of 8 MiB', async ({ store }) => {
    await store.put(key, chunks(pattern(8 * MiB)))
    await expectBlob(store, key, pattern(8 * MiB))
  })

  test('iterates content once, one chunk at a time, to its end', async ({ store }) => {
    const content = recorded(generated(300 * KiB))
    await store.put(key, content)
    expect(content.iterations(), 'iterations').to.equal(1)
    expect(content.mostAskedAtOnce(), 'chunks asked for at once').to.equal(1)
    expect(content.asked(), 'steps').to.equal(6)
  })
}

function releasesChunks(test: BlobStoreTest): void {
  for (const chunkSize of [777, 64 * KiB, 3 * MiB]) {
    test(`looks at no chunk of ${chunkSize} bytes again that it has released`, async ({
      store,
    }) => {
      const bytes = pattern(9 * MiB + 1)
      const content = inChunks(Uint8Array.from(bytes), chunkSize)
      await store.put(key, content, { release: (chunk) => chunk.fill(0) })
      await expectBlob(store, key, bytes)
    })
  }

  test('releases only chunks that it was given, and none of them twice', async ({ store }) => {
    const kept = new Set<Uint8Array>()
    const released: Uint8Array[] = []
    async function* content() {
      for await (const chunk of withEmptyChunks(pattern(300 * KiB))) {
        kept.add(chunk)
        yield chunk
      }
    }
    const release = (chunk: Uint8Array) => {
      if (!kept.delete(chunk)) released.push(chunk)
    }
    await store.put(key, content(), { release })
    expect(released, 'what was not to be released').to.deep.equal([])
  })
}

function readsBack(test: BlobStoreTest): void {
  for (const chunkSize of [777, 64 * KiB, 3 * MiB]) {
    test(`reads back, if at all, what it has taken in chunks of ${chunkSize} bytes`, async ({
      store,
    }) => {
      const bytes = pattern(7 * MiB + 1)
      let isAsked = false
      let readBack: (() => AsyncIterable<Uint8Array>) | undefined
      const expectTaken = async (size: number) => {
        if (!readBack) return
        const taken: Buffer[] = []
        for await (const piece of readBack()) taken.push(Buffer.from(piece))
        const isSame = Buffer.concat(taken).equals(bytes.subarray(0, size))
        expect(isSame, `the first ${size} bytes`).to.equal(true)
      }
      async function* content() {
        isAsked = true
        const looks = [0, chunkSize, Math.ceil(bytes.length / 2 / chunkSize) * chunkSize]
        let size = 0
        for await (const chunk of inChunks(bytes, chunkSize)) {
          if (looks.includes(size)) await expectTaken(size)
          yield chunk
          size += chunk.length
        }
        await expectTaken(size)
      }
      await store.put(key, content(), {
        onReadable: (read) => {
          expect(isAsked, 'the first chunk was asked for').to.equal(false)
          readBack = read
        },
      })
      await expectBlob(store, key, bytes)
    })
  }
}

function describesBlobs(test: BlobStoreTest): void {
  test('gives from put what stat and open give', async ({ store }) => {
    const info = await store.put(key, generated(70_000))
    expect(await store.stat(key)).to.deep.equal(info)
    const blob = await store.open(key)
    expect(blob?.info).to.deep.equal(info)
    await blob?.close()
    expect({ name: info.name, size: info.size }).to.deep.equal({ name: key.name, size: 70_000 })
  })

  test('says when the blob was stored', async ({ store }) => {
    const aroundNow = { from: Date.now() - 300_000, to: Date.now() + 300_000 }
    const { modifiedAt } = await store.put(key, generated(1))
    expect(modifiedAt).to.be.an.instanceOf(Date)
    // The store may use the clock of another machine.
    expect(modifiedAt.getTime()).to.be.within(aroundNow.from, aroundNow.to)
  })

  test('gives an etag of printable ASCII without spaces and quotes', async ({ store }) => {
    for (const name of ['plain', 'naïve "quotes" 你好.txt', '%22']) {
      const { etag } = await store.put({ customer: 'alice', name }, generated(10))
      expect(etag).to.match(/^[\u0021\u0023-\u007e]+$/u)
      expect(etag, 'a strong etag').not.to.match(/^W\//u)
    }
  })

  test('gives a blob one etag for life', async ({ store }) => {
    const { etag } = await store.put(key, generated(1000))
    await store.put({ ...key, name: 'other' }, generated(1000))
    await expectBlob(store, key, pattern(1000))
    expect((await store.stat(key))?.etag).to.equal(etag)
  })
}

const wholeSize = 200_000
const max = Number.MAX_SAFE_INTEGER

const satisfiable: readonly (readonly [string, RangeRequest, ByteRange])[] = [
  ['the first byte', { first: 0, last: 0 }, { offset: 0, length: 1 }],
  ['the first three bytes', { first: 0, last: 2 }, { offset: 0, length: 3 }],
  ['the last byte', { first: 199_999, last: 199_999 }, { offset: 199_999, length: 1 }],
  ['one byte in the middle', { first: 100_000, last: 100_000 }, { offset: 100_000, length: 1 }],
  ['bytes across 64 KiB', { first: 65_535, last: 65_537 }, { offset: 65_535, length: 3 }],
  ['exactly 64 KiB', { first: 65_536, last: 131_071 }, { offset: 65_536, length: 65_536 }],
  ['everything', { first: 0, last: 199_999 }, { offset: 0, length: wholeSize }],
  ['from the start on', { first: 0 }, { offset: 0, length: wholeSize }],
  ['from the middle on', { first: 123_456 }, { offset: 123_456, length: 76_544 }],
  ['from the last byte on', { first: 199_999 }, { offset: 199_999, length: 1 }],
  ['past the end', { first: 199_000, last: 200_000 }, { offset: 199_000, length: 1000 }],
  ['far past the end', { first: 1, last: max }, { offset: 1, length: 199_999 }],
  ['the last byte by suffix', { suffixLength: 1 }, { offset: 199_999, length: 1 }],
  ['the last 70000 bytes', { suffixLength: 70_000 }, { offset: 130_000, length: 70_000 }],
  ['a suffix of all', { suffixLength: wholeSize }, { offset: 0, length: wholeSize }],
  [
    'a suffix longer than the blob',
    { suffixLength: wholeSize + 1 },
    { offset: 0, length: wholeSize },
  ],
  ['a suffix far longer than the blob', { suffixLength: max }, { offset: 0, length: wholeSize }],
]

const unsatisfiable: readonly (readonly [string, RangeRequest])[] = [
  ['right after the end', { first: wholeSize }],
  ['right after the end, closed', { first: wholeSize, last: wholeSize + 10 }],
  ['far after the end', { first: max - 1, last: max }],
  ['a suffix of nothing', { suffixLength: 0 }],
]

/** A range selects exactly the bytes of RFC 9110 §14.1.2. */
export function ranges(test: BlobStoreTest): void {
  for (const [title, range, expected] of satisfiable) {
    test(`reads ${title}`, async ({ store }) => {
      const info = await store.put(key, generated(wholeSize))
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
      const info = await store.put(key, generated(wholeSize))
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
    await store.put(key, generated(wholeSize))
    const blob = await store.open(key, { range: { suffixLength: 1000 } })
    await store.put(key, inChunks(pattern(10, { seed: 2 })))
    expect(await digest(blob?.content ?? [])).to.deep.equal(
      await digest([pattern(1000, { offset: wholeSize - 1000 })]),
    )
  })
}

async function expectNothingSelected(blob: OpenBlob | undefined, info: BlobInfo): Promise<void> {
  expect(blob?.info).to.deep.equal(info)
  expect(blob).to.have.property('range', undefined)
  expect((await digest(blob?.content ?? [])).size).to.equal(0)
  await blob?.close()
}
