import { broken, collect, once, mapChunks } from './broken-store.ts'

/** Flaws in what happens when a put fails, is aborted or refused. */
export const interrupted = [
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
