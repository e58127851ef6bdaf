import { type BlobStore, FileServiceError, type ResumableUploads } from '@holdfast/core'

/** What a broken store does instead of a sound one. */
export type Flaw = (store: BlobStore) => Partial<BlobStore>

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

/** Stores whose answers no order explains. */
export const brokenStores: Readonly<Record<string, Flaw>> = {
  'says true of a deletion that found nothing any more': (store) => ({
    async delete(key) {
      const found = await store.stat(key)
      await turn()
      await store.delete(key)
      return found !== undefined
    },
  }),
  'repeats an upload': (store) => ({
    async put(key, content, options) {
      const info = await store.put(key, content, options)
      const blob = await store.open(key)
      setTimeout(() => void (blob && store.put(key, blob.content)), 5)
      return info
    },
  }),
  'repeats a deletion': (store) => ({
    async delete(key) {
      const isRemoved = await store.delete(key)
      setTimeout(() => void store.delete(key), 5)
      return isRemoved
    },
  }),
  'serves what it has kept in memory': (store) => {
    const kept = new Map<string, Awaited<ReturnType<BlobStore['stat']>>>()
    return {
      async stat(key) {
        const info = kept.get(key.name) ?? (await store.stat(key))
        return kept.set(key.name, info).get(key.name)
      },
    }
  },
  'lists what it has listed before': (store) => {
    const kept = new Map<string, Promise<readonly (readonly string[])[]>>()
    return {
      async *list(customer, options) {
        const id = JSON.stringify([customer, options])
        const names = kept.get(id) ?? collect(store.list(customer, options))
        kept.set(id, names)
        yield* await names
      },
    }
  },
  'acknowledges an upload before others see it': (store) => ({
    async put(key, content, options) {
      const bytes = await collect(content)
      const copy = { ...key, customer: 'the copies' }
      const info = await store.put(copy, chunksOf(bytes))
      setTimeout(() => void store.put(key, chunksOf(bytes), options).catch(() => {}), 20)
      return info
    },
  }),
  'lets a creation replace a file that came meanwhile': (store) => ({
    async put(key, content, options) {
      await turn()
      return store.put(key, content, { ...options, createOnly: false })
    },
  }),
  'keeps the newest file by a clock that is set back': (store) => {
    const times = new Map<string, number>()
    let puts = 0
    return {
      async put(key, content, options) {
        const time = puts++ % 4 === 3 ? -puts : puts
        const found = await store.stat(key)
        if (found && time < (times.get(key.name) ?? 0) && !options?.createOnly) return found
        times.set(key.name, time)
        return store.put(key, content, options)
      },
    }
  },
  'acknowledges the publication of an upload before others see it': withUploads(
    (uploads, store) => ({
      async publish(key) {
        const state = await uploads.state(key)
        if (state?.published || state?.plan.createOnly) return uploads.publish(key)
        const copy = { customer: 'the copies', name: state?.plan.name ?? '' }
        const info = await store.put(copy, uploads.content(key))
        setTimeout(() => void uploads.publish(key).catch(() => {}), 20)
        return info
      },
    }),
  ),
  'repeats the publication of an upload': withUploads((uploads, store) => ({
    async publish(key) {
      const info = await uploads.publish(key)
      const blob = await store.open({ customer: key.customer, name: info.name })
      setTimeout(() => {
        if (blob) void store.put({ customer: key.customer, name: info.name }, blob.content)
      }, 5)
      return info
    },
  })),
  'publishes an upload again that it has not noted': withUploads((uploads, store) => {
    const begun = new Set<string>()
    return {
      async publish(key) {
        const state = await uploads.state(key)
        const isPublished = state?.published ?? state?.plan.createOnly ?? begun.has(key.id)
        if (!state || isPublished) return uploads.publish(key)
        begun.add(key.id)
        await store.put(
          { customer: key.customer, name: state.plan.name },
          chunksOf(await collect(uploads.content(key))),
        )
        throw new FileServiceError('store-unavailable', 'The server was killed')
      },
    }
  }),
  'lets an upload that creates only replace a file': withUploads((uploads) => ({
    begin: (customer, plan) => uploads.begin(customer, { ...plan, createOnly: false }),
  })),
}

/** Stores whose answers no order explains, where the network delivers requests late and twice. */
export const brokenByLateRequests: Readonly<Record<string, Flaw>> = {
  'publishes an upload again for a look at it': withUploads((uploads, store) => {
    const kept = new Map<string, readonly Uint8Array[]>()
    return {
      async publish(key) {
        kept.set(key.id, kept.get(key.id) ?? (await collect(uploads.content(key))))
        return uploads.publish(key)
      },
      async state(key) {
        const state = await uploads.state(key)
        const chunks = kept.get(key.id)
        const blob = { customer: key.customer, name: state?.plan.name ?? '' }
        const isMissing = chunks && state?.published && !(await store.stat(blob))
        if (isMissing) await store.put(blob, chunksOf(chunks))
        return state
      },
    }
  }),
}

/** Stores of which the histories of uploads say what is wrong with them, with a part of what they say. */
export const brokenUploads: Readonly<Record<string, readonly [flaw: Flaw, finding: string]>> = {
  'acknowledges an append after another one at its offset': [
    withUploads((uploads) => ({
      async append(key, offset, content, options = {}) {
        try {
          return await uploads.append(key, offset, content, options)
        } catch (error) {
          const state = await uploads.state(key)
          if (!state || state.published) throw error
          options.onState?.(state)
          let reached = offset
          for await (const chunk of content) reached += chunk.length
          options.onState?.({ ...state, offset: reached })
          return reached
        }
      },
    })),
    'acknowledged two appends',
  ],
  'says of an upload what it has said before': [
    withUploads((uploads) => {
      const kept = new Map<string, ReturnType<ResumableUploads['state']>>()
      return {
        state(key) {
          const state = kept.get(key.id) ?? uploads.state(key)
          kept.set(key.id, state)
          return state
        },
        async discard(key) {
          const isDiscarded = await uploads.discard(key)
          kept.delete(key.id)
          return isDiscarded
        },
      }
    }),
    'and then at',
  ],
  'stores bytes of another append': [
    withUploads((uploads) => {
      const kept = new Map<string, Uint8Array>()
      return {
        append: (key, offset, content, options) =>
          uploads.append(key, offset, exchange(key.id, content, kept), options),
      }
    }),
    'bytes are not those of appends',
  ],
  'loses an upload': [
    withUploads((uploads) => ({
      async append(...args) {
        const reached = await uploads.append(...args)
        setTimeout(() => void uploads.discard(args[0]), 5)
        return reached
      },
    })),
    'is gone, and was neither discarded nor published',
  ],
  'keeps an upload that was discarded': [
    withUploads((uploads) => ({
      discard: async (key) => (await uploads.state(key)) !== undefined,
    })),
    'was found after it was discarded',
  ],
}

function withUploads(
  flaw: (uploads: ResumableUploads, store: BlobStore) => Partial<ResumableUploads>,
): Flaw {
  return (store) => {
    if (!store.resumable) throw new TypeError('The store keeps no uploads in pieces')
    return { resumable: { ...store.resumable, ...flaw(store.resumable, store) } }
  }
}

/** Gives each chunk that is as long as the one before it of the same upload the bytes of that one. */
async function* exchange(
  id: string,
  content: AsyncIterable<Uint8Array>,
  kept: Map<string, Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    const before = kept.get(id)
    kept.set(id, chunk.slice())
    yield before?.length === chunk.length ? before : chunk
  }
}

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function collect<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}
