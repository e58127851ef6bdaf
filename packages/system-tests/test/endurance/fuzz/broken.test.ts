import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { BlobStore } from '@holdfast/core'
import {
  decodeEscapedName,
  encodeEscapedName,
} from '../../../../store-disk/src/directory/layout.ts'
import { encodeName } from '../../../../store-minio/src/keys/object-keys.ts'
import type { FuzzTarget } from './fuzz-target.ts'
import { describeFinding } from './start-fuzz.ts'
import { multipart } from './targets/multipart.ts'
import { fileNames } from './targets/names.ts'
import { roundTrips } from './targets/round-trips.ts'
import { uploads } from './targets/uploads.ts'

const seed = 7
const find = async (target: FuzzTarget, runs = 2_000) => {
  const finding = await target.fuzz({ seed, runs })
  if (finding === undefined) throw new Error('Nothing was found')
  return finding
}

/** A memory store that stores what `change` makes of the content. */
function storing(change: (content: Buffer) => Buffer): BlobStore {
  const store = createMemoryBlobStore()
  return {
    ...store,
    put: (key, content, options) => store.put(key, changed(content, change), options),
  }
}

async function* changed(
  content: AsyncIterable<Uint8Array>,
  change: (content: Buffer) => Uint8Array,
): AsyncIterable<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk))
  yield change(Buffer.concat(chunks))
}

/** `content` up to where it throws. */
async function* untilItBreaks(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* content
  } catch {
    // As if nothing had happened.
  }
}

describe('createTarget', () => {
  it('finds a store that loses the last byte of a form, and the least form that shows it', async () => {
    const store = storing((content) => content.subarray(0, -1))
    const target = multipart({ openStore: async () => ({ store }) })
    const finding = await find(target)
    expect(finding.message).to.match(/as it must be|a whole part/)
    expect(finding.input.length, finding.input).to.be.below(300)
    const again = await target.fuzz({ seed, runs: 1, path: finding.path })
    expect(again?.input).to.equal(finding.input)
    expect(describeFinding(finding)).to.include(
      `scripts/fuzz --target multipart --seed 7 --path ${finding.path}`,
    )
  })

  it('finds a store that takes what has come for the whole', async () => {
    const memory = createMemoryBlobStore()
    const put: BlobStore['put'] = (key, content, options) =>
      memory.put(key, untilItBreaks(content), options)
    const { message } = await find(
      multipart({ openStore: async () => ({ store: { ...memory, put } }) }),
    )
    expect(message).to.match(/expected/)
  })

  it('finds names that are taken for one another, and two characters that are', async () => {
    const encodeEscaped = (name: string) => encodeEscapedName(name.toLowerCase())
    const codecs = { encodeEscaped, decodeEscaped: decodeEscapedName, encodeForBucket: encodeName }
    const { input } = await find(fileNames(codecs))
    expect(input).to.match(/^\{ name: "[^"]{1,6}", components: \["[^"]*"\] \}$/)
  })

  it('finds a store that changes the bytes of an upload in pieces', async () => {
    const memory = createMemoryBlobStore()
    const { resumable } = memory
    if (resumable === undefined) throw new Error('It keeps none')
    const append: typeof resumable.append = (key, offset, content, options) =>
      resumable.append(
        key,
        offset,
        changed(content, (bytes) => bytes.map((byte) => byte ^ 1)),
        options,
      )
    const store = { ...memory, resumable: { ...resumable, append } }
    for (const isDraft of [false, true]) {
      const { message } = await find(uploads({ isDraft, openStore: async () => ({ store }) }))
      expect(message).to.include('files after')
    }
  })

  it('finds files that are left behind', async () => {
    const expectTidy = () => Promise.reject(new Error('Temporary files are left'))
    const openStore = async () => ({ store: createMemoryBlobStore(), expectTidy })
    expect((await find(roundTrips({ openStore }), 1)).message).to.include('Temporary files')
  })

  it('finds a fault of the server', async () => {
    const put = () => Promise.reject(new Error('out of order'))
    const openStore = async () => ({ store: { ...createMemoryBlobStore(), put } })
    const { message } = await find(roundTrips({ openStore }), 100)
    expect(message).to.include('An unexpected error occurred')
  })
})
