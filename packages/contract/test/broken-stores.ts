import { compareUtf8, resolveRange, type BlobStore, type OpenBlob } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { BlobStoreHarness } from '../src/blob-store-harness.ts'

/** A store broken on purpose and the test that has to notice. */
export interface BrokenStore {
  readonly flaw: string
  readonly test: string
  readonly open: () => Promise<BlobStoreHarness>
}

type Methods = Partial<BlobStore>

/** A harness over a memory store in which `flaw` replaces methods. */
export function harnessOf(
  flaw: (store: BlobStore) => Methods = () => ({}),
  windows: Partial<BlobStoreHarness> = {},
): BlobStoreHarness {
  const sound = createMemoryBlobStore()
  const store = { ...sound, ...flaw(sound) }
  return {
    store,
    openAgain: async () => store,
    litter: async () => [],
    heldResources: async () => 0,
    dispose: async () => {},
    ...windows,
  }
}

function broken(flaw: string, test: string, breakIt: (store: BlobStore) => Methods): BrokenStore {
  return { flaw, test, open: async () => harnessOf(breakIt) }
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(part)
  return Buffer.concat(parts)
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

async function* mapChunks(
  content: AsyncIterable<Uint8Array>,
  map: (chunk: Uint8Array) => Uint8Array | undefined,
) {
  for await (const chunk of content) {
    const mapped = map(chunk)
    if (mapped === undefined) return
    yield mapped
  }
}

const renaming = (rename: (name: string) => string) => (store: BlobStore) =>
  ({
    put: async (key, content, options) => ({
      ...(await store.put({ ...key, name: rename(key.name) }, content, options)),
      name: key.name,
    }),
    open: (key, options) => store.open({ ...key, name: rename(key.name) }, options),
    stat: (key) => store.stat({ ...key, name: rename(key.name) }),
    delete: (key) => store.delete({ ...key, name: rename(key.name) }),
  }) satisfies Methods

const opening =
  (change: (blob: OpenBlob) => OpenBlob) =>
  (store: BlobStore): Methods => ({
    async open(key, options) {
      const blob = await store.open(key, options)
      return blob && change(blob)
    },
  })

const writing = [
  broken('truncates', 'round trip > keeps 65537 bytes as they are', (store) => ({
    put: async (key, content, options) =>
      store.put(key, once((await collect(content)).subarray(0, 65_536)), options),
  })),
  broken(
    'takes an empty chunk for the end',
    'round trip > takes content as empty chunks before, between and after others',
    (store) => ({
      put: (key, content, options) =>
        store.put(
          key,
          mapChunks(content, (chunk) => (chunk.length > 0 ? chunk : undefined)),
          options,
        ),
    }),
  ),
  broken(
    'asks for several chunks at once',
    'round trip > iterates content once, one chunk at a time, to its end',
    (store) => ({
      async put(key, content, options) {
        const iterator = content[Symbol.asyncIterator]()
        const steps = await Promise.all(Array.from({ length: 6 }, () => iterator.next()))
        const parts = steps.flatMap((step) => (step.done === true ? [] : [step.value]))
        return store.put(key, once(Buffer.concat(parts)), options)
      },
    }),
  ),
  broken(
    'shows a blob before its content has ended',
    'overwriting > shows no blob until the content of the first one has ended',
    (store) => ({
      async put(key, content, options) {
        let written: Uint8Array = new Uint8Array()
        for await (const chunk of content) {
          written = Buffer.concat([written, chunk])
          await store.put(key, once(written))
        }
        return store.put(key, once(written), options)
      },
    }),
  ),
  broken(
    'removes the earlier blob first',
    'overwriting > shows the earlier blob until the content of the new one has ended',
    (store) => ({
      async put(key, content, options) {
        await store.delete(key)
        return store.put(key, content, options)
      },
    }),
  ),
  broken(
    'leaves the end of a longer blob',
    'overwriting > replaces 200000 bytes with 1 others',
    (store) => ({
      async put(key, content, options) {
        const earlier = await store.open(key)
        const rest = earlier ? await collect(earlier.content) : new Uint8Array()
        const bytes = await collect(content)
        return store.put(key, once(Buffer.concat([bytes, rest.subarray(bytes.length)])), options)
      },
    }),
  ),
  broken(
    'makes etags of sizes',
    'overwriting > gives every blob that was under a key another etag, same content or not',
    (store) => ({
      put: async (key, content, options) => {
        const info = await store.put(key, content, options)
        return { ...info, etag: `${info.size}` }
      },
    }),
  ),
  broken(
    'quotes its etags',
    'round trip > gives an etag of printable ASCII without spaces and quotes',
    (store) => ({
      put: async (key, content, options) => {
        const info = await store.put(key, content, options)
        return { ...info, etag: `"${info.etag}"` }
      },
    }),
  ),
  broken(
    'tells another time in stat than in put',
    'round trip > gives from put what stat and open give',
    (store) => ({
      stat: async (key) => {
        const info = await store.stat(key)
        return info && { ...info, modifiedAt: new Date(info.modifiedAt.getTime() - 1) }
      },
    }),
  ),
]

const interrupted = [
  broken(
    'keeps what came before the content failed',
    'interrupted writes > leaves nothing when content fails in the middle',
    (store) => ({
      async put(key, content, options) {
        const parts: Uint8Array[] = []
        try {
          for await (const part of content) parts.push(part)
        } catch (error) {
          await store.put(key, once(Buffer.concat(parts)))
          throw error
        }
        return store.put(key, once(Buffer.concat(parts)), options)
      },
    }),
  ),
  broken(
    'loses the earlier blob when content fails',
    'interrupted writes > keeps the earlier blob when content fails at its start',
    (store) => ({
      put: (key, content, options) =>
        store.put(key, content, options).catch(async (error: unknown) => {
          await store.delete(key)
          throw error
        }),
    }),
  ),
  broken(
    'ignores the signal',
    'interrupted writes > rejects with the reason when the signal aborted before',
    (store) => ({
      put: (key, content, { createOnly = false } = {}) => store.put(key, content, { createOnly }),
    }),
  ),
  broken(
    'hangs when stalled content is aborted',
    'interrupted writes > rejects at once when content stalls after 1 bytes and the signal aborts',
    (store) => ({
      put: (key, content, options) =>
        store.put(
          key,
          mapChunks(content, (chunk) => {
            options?.signal?.throwIfAborted()
            return chunk
          }),
        ),
    }),
  ),
  broken(
    'does not look at the signal at the end',
    'interrupted writes > rejects when the signal aborts in the last step of the content',
    (store) => ({
      async put(key, content, { createOnly = false, signal } = {}) {
        const bytes = await collect(
          mapChunks(content, (chunk) => {
            signal?.throwIfAborted()
            return chunk
          }),
        )
        return store.put(key, once(bytes), { createOnly })
      },
    }),
  ),
  broken(
    'wraps the reason',
    'interrupted writes > keeps the earlier blob when content fails in the middle',
    (store) => ({
      put: (key, content, options) =>
        store.put(key, content, options).catch((cause: unknown) => {
          throw new Error('put failed', { cause })
        }),
    }),
  ),
  broken(
    'checks create-only before the content and not after',
    'create-only > lets exactly one of twenty puts at once succeed',
    (store) => ({
      async put(key, content, { createOnly = false, ...options } = {}) {
        if (createOnly && (await store.stat(key)))
          return store.put(key, once(new Uint8Array()), { createOnly })
        return store.put(key, content, options)
      },
    }),
  ),
  broken(
    'leaves the content of a refused put open',
    'create-only > refuses a taken name, closes the content and keeps the earlier blob',
    (store) => ({
      async put(key, content, options) {
        await content[Symbol.asyncIterator]().next()
        return store.put(key, once(new Uint8Array()), options)
      },
    }),
  ),
]

const reading = [
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

const telling = [
  broken('throws for what is absent', 'absence > has no blob in an empty store', (store) => ({
    stat: async (key) => {
      const info = await store.stat(key)
      if (!info) throw new Error('ENOENT')
      return info
    },
  })),
  broken(
    'says true when there was nothing to delete',
    'absence > deletes nothing where there is nothing',
    (store) => ({
      delete: async (key) => {
        await store.delete(key)
        return true
      },
    }),
  ),
  broken('does not delete', 'absence > deletes a blob once', (store) => ({
    delete: async (key) => (await store.stat(key)) !== undefined,
  })),
  broken(
    'folds case',
    'naming > finds no twin of a name where only the other is stored',
    renaming((name) => name.toLowerCase()),
  ),
  broken(
    'normalises',
    'naming > keeps names apart that differ in case, normalisation, dots, spaces or escapes',
    renaming((name) => name.normalize()),
  ),
  broken(
    'undoes percent-escapes',
    'naming > keeps a blob called "%41" of a customer called the same',
    renaming((name) => name.replaceAll('%41', 'A')),
  ),
  broken(
    'hides what looks temporary',
    'naming > keeps a blob called ".tmp-1" of a customer called the same',
    (store) => ({
      async *list(customer, options) {
        for await (const name of store.list(customer, options))
          if (!name.startsWith('.tmp')) yield name
      },
    }),
  ),
  broken(
    'orders by UTF-16',
    'listing > lists names in the order of their UTF-8 bytes',
    (store) => ({
      async *list(customer, options) {
        const found: string[] = []
        for await (const name of store.list(customer, options)) found.push(name)
        yield* found.sort()
      },
    }),
  ),
  broken(
    'includes the name given as after',
    'listing > lists names after one that exists, without it',
    (store) => ({
      async *list(customer, { after = '', limit = Infinity, prefix = '' } = {}) {
        if (limit !== Infinity) return yield* store.list(customer, { after, limit, prefix })
        for await (const name of store.list(customer, { prefix }))
          if (compareUtf8(name, after) >= 0) yield name
      },
    }),
  ),
  broken('ignores the limit', 'listing > lists one name', (store) => ({
    list: (customer, { prefix = '', after = '' } = {}) => store.list(customer, { prefix, after }),
  })),
  broken(
    'stops after a thousand names',
    'listing > lists 1100 names, whole and in pages',
    (store) => ({
      list: (customer, options) =>
        store.list(customer, { ...options, limit: Math.min(options?.limit ?? 1000, 1000) }),
    }),
  ),
  broken(
    'counts replaced blobs twice',
    'usage > counts a replaced blob by its new size',
    (store) => {
      let bytes = 0
      return {
        async put(key, content, options) {
          const info = await store.put(key, content, options)
          bytes += info.size
          return info
        },
        usage: async (customer) => ({ ...(await store.usage(customer)), bytes }),
      }
    },
  ),
  broken(
    'joins customer and name',
    'isolation > shows customer a nothing of customer ab, and the other way round',
    (store) => ({
      put: (key, content, options) =>
        store.put({ customer: '', name: key.customer + key.name }, content, options),
      open: (key, options) => store.open({ customer: '', name: key.customer + key.name }, options),
      stat: (key) => store.stat({ customer: '', name: key.customer + key.name }),
    }),
  ),
]

/** A store in which opened blobs hold something until `released` says otherwise. */
function holding(
  flaw: string,
  test: string,
  wrap: (blob: OpenBlob, release: () => void) => OpenBlob,
): BrokenStore {
  const open = async () => {
    const held = new Set<OpenBlob>()
    const breakIt = opening((blob) => {
      held.add(blob)
      return wrap(blob, () => held.delete(blob))
    })
    return harnessOf(breakIt, { heldResources: async () => held.size })
  }
  return { flaw, test, open }
}

async function* releasingAtEnd(content: AsyncIterable<Uint8Array>, release: () => void) {
  yield* content
  release()
}

async function* releasingFinally(content: AsyncIterable<Uint8Array>, release: () => void) {
  try {
    yield* content
  } finally {
    release()
  }
}

const leaking = [
  holding(
    'holds on when reading stops early',
    'streaming > holds nothing once a blob of 5242880 bytes is read in part',
    (blob, release) => ({
      ...blob,
      content: releasingAtEnd(blob.content, release),
      close: async () => release(),
    }),
  ),
  holding(
    'holds on when reading stops before it begins',
    'streaming > holds nothing once a blob of 1 bytes is given up before the first chunk',
    (blob, release) => ({
      ...blob,
      content: releasingFinally(blob.content, release),
      close: async () => release(),
    }),
  ),
  holding(
    'holds on when closed unread',
    'streaming > holds nothing once a blob of 1 bytes is closed before reading',
    (blob, release) => ({
      ...blob,
      content: releasingFinally(blob.content, release),
    }),
  ),
  {
    flaw: 'leaves litter when content fails',
    test: 'interrupted writes > leaves nothing when content fails in the middle',
    async open() {
      const litter: string[] = []
      const breakIt = (store: BlobStore): Methods => ({
        async put(key, content, options) {
          litter.push('.tmp-1')
          const info = await store.put(key, content, options)
          litter.pop()
          return info
        },
      })
      return harnessOf(breakIt, { litter: async () => litter })
    },
  },
  {
    flaw: 'acknowledges what only its own process knows',
    test: 'sharing > shows another opening a blob once put has resolved',
    open: async () => harnessOf(undefined, { openAgain: async () => createMemoryBlobStore() }),
  },
]

export const brokenStores: readonly BrokenStore[] = [
  ...writing,
  ...interrupted,
  ...reading,
  ...telling,
  ...leaking,
]
