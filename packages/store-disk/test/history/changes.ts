import type { DiskBlobStore } from '../../src/disk-blob-store.ts'

const keep = { keepReplaced: true }
const key = (name: string) => ({ customer: 'alice', name })

async function* text(content: string) {
  yield Buffer.from(content)
}

const put =
  (name: string, content: string, options = {}) =>
  async (store: DiskBlobStore): Promise<unknown> =>
    store.put(key(name), text(content), { ...keep, ...options })

/** Changes of the blobs `a` and `b` of alice, in order. Before them, `a` is stored without keeping, with the content "0". */
export const changes: Readonly<Record<string, (store: DiskBlobStore) => Promise<unknown>>> = {
  'replace what was not kept': put('a', '1'),
  replace: put('a', '2'),
  'create only': put('b', '3', { createOnly: true }),
  'rename over another': (store) => rename(store, 'a', 'b'),
  'rename to a free name': (store) => rename(store, 'b', 'a', { createOnly: true }),
  'publish an upload': (store) => publish(store, 'a', '4', false),
  delete: (store) => store.delete(key('a'), keep),
  'publish an upload create-only': (store) => publish(store, 'a', '5', true),
  restore: (store) => restore(store, 'a'),
  expire: (store) => expire(store, 'a'),
}

/** What each change stores, and who has it afterwards: `a` and `b`, and what is kept of either. */
export const stored = ['0', '1', '2', '3', '4', '5']

async function rename(store: DiskBlobStore, from: string, to: string, options = {}) {
  await store.rename?.(key(from), to, { ...keep, ...options })
}

async function publish(store: DiskBlobStore, name: string, content: string, createOnly: boolean) {
  const plan = { name, length: content.length, createOnly, expiresAfterMs: 3_600_000 }
  const { id } = await store.resumable.begin('alice', plan)
  await store.resumable.append({ customer: 'alice', id }, 0, text(content))
  await store.resumable.publish({ customer: 'alice', id }, keep)
}

async function restore(store: DiskBlobStore, name: string) {
  for await (const [newest] of store.history?.versions(key(name)) ?? []) {
    if (newest) await store.history?.restore({ ...key(name), version: newest.version }, name)
    return
  }
}

async function expire(store: DiskBlobStore, name: string) {
  const info = await store.stat(key(name))
  if (info) await store.expiry?.deleteUnchanged('alice', info, keep)
}
