import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import {
  abortable,
  resolveRange,
  type BlobInfo,
  type BlobKey,
  type BlobStore,
  type ByteRange,
  type ListOptions,
  type OpenBlob,
  type RangeRequest,
} from '@holdfast/core'
import { createCipher, type Cipher } from './cipher.ts'
import {
  chunkSize,
  chunksOf,
  formVersion,
  headerSize,
  lastChunk,
  plainSize,
  saltSize,
  sealedChunkSize,
} from './envelope.ts'
import { inPieces } from './in-pieces.ts'
import { through } from './through.ts'

/**
 * A blob store that keeps files in `inner`, encrypted with `masterKey`, 32 bytes. Names, times and, but for a few
 * bytes, sizes stay readable there. A file that was altered, cut or put into the place of another cannot be
 * read.
 */
export function createEncryptedBlobStore(inner: BlobStore, masterKey: Uint8Array): BlobStore {
  if (masterKey.length !== 32) throw new TypeError('The key must have 32 bytes')

  const stat = async (key: BlobKey) => {
    const info = await inner.stat(key)
    return info && asPlain(info)
  }

  async function* listDetails(customer: string, options?: ListOptions) {
    for await (const page of inner.listDetails(customer, options)) yield page.map(asPlain)
  }

  const openWhole = async (key: BlobKey): Promise<OpenBlob | undefined> => {
    const blob = await inner.open(key, { reuseChunks: true })
    if (!blob) return undefined
    const info = asPlain(blob.info)
    const content = through(blob.content, async function* (sealed) {
      let cipher: Cipher | undefined
      let index = 0
      for await (const { bytes } of inPieces(sealed, sealedChunkSize, headerSize)) {
        if (cipher) yield cipher.open(bytes, place(index++, info.size))
        else cipher = cipherOf(bytes, key)
      }
      // An empty file has a chunk, too.
      if (index === 0) throw new Error('The file ends behind its header')
    })
    return { info, range: { offset: 0, length: info.size }, content, close: () => blob.close() }
  }

  const openPart = async (key: BlobKey, request: RangeRequest): Promise<OpenBlob | undefined> => {
    while (true) {
      const head = await inner.open(key, { range: { first: 0, last: headerSize - 1 } })
      if (!head) return undefined
      const info = asPlain(head.info)
      const cipher = cipherOf(await buffer(head.content), key)
      const range = resolveRange(request, info.size)
      if (!range) return { info, range, content: nothing(), close: async () => {} }
      const { first, stored } = chunksOf(range)
      const blob = await inner.open(key, { range: stored, reuseChunks: true })
      if (blob?.info.etag === info.etag) {
        const content = through(blob.content, (sealed) =>
          openChunks(sealed, cipher, first, info, range),
        )
        return { info, range, content, close: () => blob.close() }
      }
      // Replaced or deleted between the two: what has been read belongs to neither.
      await blob?.close()
    }
  }

  const cipherOf = (header: Uint8Array, key: BlobKey) => {
    if (header[0] !== formVersion) throw new Error('The file is not encrypted, or in another form')
    return createCipher(masterKey, header.subarray(1), key)
  }

  return {
    async put(key, content, { createOnly = false, signal } = {}) {
      const salt = randomBytes(saltSize)
      const cipher = createCipher(masterKey, salt, key)
      const sealed = through(abortable(content, signal), async function* (plain) {
        yield Buffer.concat([Buffer.of(formVersion), salt])
        let index = 0
        for await (const { bytes, isLast } of inPieces(plain, chunkSize)) {
          yield cipher.seal(bytes, { index: index++, isLast })
        }
      })
      return asPlain(await inner.put(key, sealed, { createOnly, ...(signal && { signal }) }))
    },

    open: (key, { range } = {}) => (range ? openPart(key, range) : openWhole(key)),

    stat,

    delete: (key) => inner.delete(key),

    list: (customer, options) => inner.list(customer, options),

    listDetails,

    // The sum of the sizes does not say how many chunks there are in all.
    async usage(customer) {
      const usage = { blobs: 0, bytes: 0 }
      for await (const page of listDetails(customer)) {
        usage.blobs += page.length
        for (const { size } of page) usage.bytes += size
      }
      return usage
    },

    customers: () => inner.customers(),
  }
}

/** The bytes of `range` out of its chunks, of which `first` is the first. */
async function* openChunks(
  sealed: AsyncIterable<Uint8Array>,
  cipher: Cipher,
  first: number,
  { size }: BlobInfo,
  { offset, length }: ByteRange,
) {
  let index = first
  for await (const { bytes } of inPieces(sealed, sealedChunkSize)) {
    const start = index * chunkSize
    const chunk = cipher.open(bytes, place(index++, size))
    yield chunk.subarray(Math.max(0, offset - start), offset + length - start)
  }
}

function place(index: number, size: number) {
  return { index, isLast: index === lastChunk(size) }
}

function asPlain(info: BlobInfo): BlobInfo {
  return { ...info, size: plainSize(info.size) }
}

async function* nothing() {}
