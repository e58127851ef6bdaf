import type { ResumableUploads, UploadKey } from '@holdfast/core'
import { uploadsOf } from '../../../src/support/resumable-harness.ts'
import { collect, harnessOf, mapChunks, once, type BrokenStore } from '../broken-store.ts'
import { brokenUploads, withoutLastByte } from './broken-uploads.ts'

/** Flaws in appends that go their way to the end. */
export const appending: readonly BrokenStore[] = [
  brokenUploads('loses the last byte', 'appending > keeps odd sizes', (uploads) => ({
    append: (key, offset, content, options) =>
      uploads.append(key, offset, withoutLastByte(content), options),
  })),
  brokenUploads(
    'resolves to the bytes of one append',
    'appending > keeps ascending sizes',
    (uploads) => ({
      append: async (key, offset, ...rest) => (await uploads.append(key, offset, ...rest)) - offset,
    }),
  ),
  brokenUploads(
    'appends wherever the upload stands',
    'appending > refuses to append at 999 to 1000 bytes, and takes no content',
    (uploads) => ({
      append: async (key, offset, ...rest) =>
        uploads.append(key, (await uploads.state(key))?.offset ?? offset, ...rest),
    }),
  ),
  brokenUploads(
    'takes content before it compares the offset',
    'appending > refuses to append at 0 to 1000 bytes, and takes no content',
    (uploads) => ({
      append: async (key, offset, content, options) =>
        uploads.append(key, offset, once(await collect(content)), options),
    }),
  ),
  brokenUploads(
    'reports no state',
    'appending > reports the state that it finds, and each that is durable, of what comes',
    (uploads) => ({
      append: (key, offset, content, { onState: _ignored, ...options } = {}) =>
        uploads.append(key, offset, content, options),
    }),
  ),
  brokenUploads(
    'reports only the state that it finds',
    'appending > reports the state that it finds, and each that is durable, of all or nothing',
    (uploads) => ({
      append(key, offset, content, { onState, ...options } = {}) {
        let report = onState
        return uploads.append(key, offset, content, {
          ...options,
          onState(state) {
            report?.(state)
            report = undefined
          },
        })
      },
    }),
  ),
  {
    flaw: 'keeps one thing for each append',
    test: 'appending > keeps many appends of one byte, and few things for them',
    open: async () => {
      const parts: string[] = []
      const append: ResumableUploads['append'] = (...call) => {
        parts.push(`part ${parts.length}`)
        return uploads.append(...call)
      }
      const { store, ...harness } = harnessOf()
      const uploads = uploadsOf(store)
      return {
        ...harness,
        store: { ...store, resumable: { ...uploads, append } },
        litter: async () => parts,
      }
    },
  },
  brokenUploads(
    "keeps its caller's buffers",
    'appending > has copied or written all chunks by the time it resolves',
    (uploads) => {
      const kept = new Map<string, Uint8Array[]>()
      return {
        append: (key, offset, content, options) => {
          const chunks: Uint8Array[] = []
          kept.set(key.id, chunks)
          const noted = mapChunks(content, (chunk) => {
            chunks.push(chunk)
            return chunk
          })
          return uploads.append(key, offset, noted, options)
        },
        async *content({ id }) {
          yield* kept.get(id) ?? []
        },
      }
    },
  ),
  brokenUploads(
    'releases chunks before it has copied them',
    'appending > releases a chunk once at most, and only when it may be overwritten',
    (uploads) => ({
      append: (key, offset, content, { release, ...options } = {}) =>
        uploads.append(
          key,
          offset,
          mapChunks(content, (chunk) => {
            release?.(chunk)
            return chunk
          }),
          options,
        ),
    }),
  ),
  brokenUploads(
    'releases chunks twice',
    'appending > releases a chunk once at most, and only when it may be overwritten',
    (uploads) => ({
      append: (key, offset, content, { release, ...options } = {}) =>
        uploads.append(
          key,
          offset,
          mapChunks(content, (chunk) => {
            const copy = Uint8Array.from(chunk)
            release?.(chunk)
            release?.(chunk)
            return copy
          }),
          options,
        ),
    }),
  ),
  brokenUploads(
    'asks for two chunks at a time',
    'appending > takes content one chunk at a time, and iterates it once',
    (uploads) => ({
      append: (key, offset, content, options) =>
        uploads.append(key, offset, inPairs(content), options),
    }),
  ),
  brokenUploads(
    'takes an array for bytes',
    'appending > refuses a chunk that is an array, and keeps what came before',
    (uploads) => ({
      append: (key, offset, content, options) =>
        uploads.append(
          key,
          offset,
          mapChunks(content, (chunk) => Uint8Array.from(chunk)),
          options,
        ),
    }),
  ),
  brokenUploads(
    'forgets what came before a chunk that is none',
    'appending > refuses a chunk that is a string, and keeps what came before',
    (uploads) => ({
      append: (key, offset, content, options) =>
        uploads.append(key, offset, content, { ...options, allOrNothing: true }),
    }),
  ),
  brokenUploads(
    'mixes uploads of one name up',
    'appending > keeps several uploads of one name apart',
    (uploads) => {
      let first: UploadKey | undefined
      return {
        append: (key, offset, content, options) =>
          uploads.append((first ??= key), offset, content, options),
      }
    },
  ),
  brokenUploads(
    'keeps offsets in one process',
    'appending > goes on through another opening, and back',
    () => ({}),
    (store) => ({
      openAgain: async () => ({
        ...store,
        resumable: { ...uploadsOf(store), state: async () => undefined },
      }),
    }),
  ),
  brokenUploads(
    'makes the bytes of an append durable at its end only',
    'big appends > takes 272 MiB in bounded memory, and all but 256 MiB are durable meanwhile',
    (uploads) => ({
      append: async (key, offset, content, options) => {
        const parts: Uint8Array[] = []
        try {
          for await (const part of content) parts.push(Uint8Array.from(part))
        } finally {
          await uploads.append(key, offset, once(Buffer.concat(parts)), options)
        }
        return offset
      },
    }),
  ),
  brokenUploads(
    'joins big pieces in the wrong order',
    'big appends > keeps pieces of several MiB',
    (uploads) => ({
      async *content(key) {
        const parts = []
        for await (const part of uploads.content(key)) parts.push(part)
        const big = parts.filter(({ length }) => length > 1)
        yield* [...big, ...parts.filter(({ length }) => length <= 1)]
      },
    }),
  ),
]

async function* inPairs(content: AsyncIterable<Uint8Array>) {
  const iterator = content[Symbol.asyncIterator]()
  while (true) {
    const pair = await Promise.all([iterator.next(), iterator.next()])
    for (const step of pair) {
      if (step.done === true) return
      yield step.value
    }
  }
}
