import { resolveRange } from '@holdfast/core'
import { broken, mapChunks, opening } from './broken-store.ts'

/** Flaws in opened blobs. */
export const reading = [
  broken(
    'reuses its chunks unasked',
    'streaming > leaves alone the chunks that it gave, unless the reader allows reuse',
    opening((blob) => ({ ...blob, content: inOneBuffer(blob.content) })),
  ),
  broken(
    'overwrites a chunk while it is in use',
    'streaming > reads bytes 0 to 5242879 in chunks that it may reuse',
    opening((blob) => ({ ...blob, content: overwritingEarly(blob.content) })),
  ),
  broken(
    'ends short',
    'round trip > keeps 5242881 bytes as they are',
    opening((blob) => ({
      ...blob,
      content: mapChunks(blob.content, (chunk) => (chunk.length === 65_536 ? chunk : undefined)),
    })),
  ),
  broken(
    'reads what is there now, not what was opened',
    'overwriting > reads an opened blob to its end after it is replaced by one of the same size',
    (store) => ({
      async open(key, options) {
        const blob = await store.open(key, options)
        async function* content() {
          yield* (await store.open(key, options))?.content ?? []
        }
        return blob && { ...blob, content: content() }
      },
    }),
  ),
  broken(
    'takes the last byte of a range as exclusive',
    'ranges > reads the first three bytes',
    (store) => ({
      open: (key, { range } = {}) => {
        if (!range || 'suffixLength' in range || range.last === undefined)
          return store.open(key, range ? { range } : {})
        return store.open(key, { range: { ...range, last: range.last - 1 } })
      },
    }),
  ),
  broken(
    'gives as its bytes others than it yields',
    'ranges > reads the first three bytes',
    opening((blob) => ({ ...blob, bytes: new Uint8Array(blob.range?.length ?? 0) })),
  ),
  broken('takes a suffix as an offset', 'ranges > reads the last 70000 bytes', (store) => ({
    open: (key, { range } = {}) => {
      if (!range) return store.open(key)
      return store.open(key, {
        range: 'suffixLength' in range ? { first: range.suffixLength } : range,
      })
    },
  })),
  broken(
    'clamps what lies after the end',
    'ranges > selects nothing right after the end',
    (store) => ({
      open: async (key, { range } = {}) => {
        const info = await store.stat(key)
        const selects = resolveRange(range, info?.size ?? 0) !== undefined
        return store.open(key, range && selects ? { range } : {})
      },
    }),
  ),
  broken(
    'reuses one buffer for all chunks',
    'streaming > leaves chunks alone that it has yielded',
    opening((blob) => {
      const buffer = new Uint8Array(65_536)
      const content = mapChunks(blob.content, (chunk) => {
        buffer.set(chunk)
        return buffer.subarray(0, chunk.length)
      })
      return { ...blob, content }
    }),
  ),
]

async function* inOneBuffer(content: AsyncIterable<Uint8Array>) {
  const buffer = new Uint8Array(1024 * 1024)
  for await (const chunk of content) {
    buffer.set(chunk)
    yield buffer.subarray(0, chunk.length)
  }
}

async function* overwritingEarly(content: AsyncIterable<Uint8Array>) {
  for await (const chunk of content) {
    queueMicrotask(() => setImmediate(() => chunk.fill(0)))
    yield chunk
  }
}
