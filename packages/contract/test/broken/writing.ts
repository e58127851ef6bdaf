import { broken, collect, once, mapChunks } from './broken-store.ts'

/** Flaws in taking and publishing content. */
export const writing = [
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
    'releases chunks that it has kept',
    'round trip > looks at no chunk of 65536 bytes again that it has released',
    (store) => ({
      put: (key, content, options) =>
        store.put(
          key,
          mapChunks(content, (chunk) => {
            queueMicrotask(() => options?.release?.(chunk))
            return chunk
          }),
          options,
        ),
    }),
  ),
  broken(
    'releases a chunk twice',
    'round trip > releases only chunks that it was given, and none of them twice',
    (store) => ({
      put: (key, content, options) =>
        store.put(
          key,
          mapChunks(content, (chunk) => {
            options?.release?.(chunk)
            options?.release?.(chunk)
            return Uint8Array.from(chunk)
          }),
          options,
        ),
    }),
  ),
  broken(
    'reads back less than it has taken',
    'round trip > reads back, if at all, what it has taken in chunks of 65536 bytes',
    (store) => ({
      put: (key, content, options) =>
        store.put(key, content, {
          ...options,
          onReadable: (readBack) =>
            options?.onReadable?.(async function* () {
              yield (await collect(readBack())).subarray(1)
            }),
        }),
    }),
  ),
  broken(
    'offers too late to read back',
    'round trip > reads back, if at all, what it has taken in chunks of 777 bytes',
    (store) => ({
      put: (key, content, options) =>
        store.put(
          key,
          mapChunks(content, (chunk) => {
            options?.onReadable?.(() => once(chunk))
            return chunk
          }),
        ),
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
    'overwriting > gives blobs of different content that were under a key different etags',
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
