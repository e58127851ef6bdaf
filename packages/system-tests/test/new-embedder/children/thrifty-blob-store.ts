import { hash } from 'node:crypto'
import {
  abortable,
  compareUtf8,
  FileServiceError,
  resolveRange,
  type BlobInfo,
  type BlobKey,
  type BlobStore,
  type ListOptions,
} from '@holdfast/core'

interface Kept {
  readonly bytes: Uint8Array
  uses: number
}

/** A store of one's own: in memory, where equal content is kept once, however many have it. */
export function createThriftyBlobStore(): BlobStore {
  const customers = new Map<string, Map<string, BlobInfo>>()
  const contents = new Map<string, Kept>()

  const find = ({ customer, name }: BlobKey) => customers.get(customer)?.get(name)
  const refuseIfTaken = (key: BlobKey) => {
    if (find(key)) throw new FileServiceError('already-exists', 'The name is taken')
  }
  const keep = (digest: string, bytes: Uint8Array) => {
    const kept = contents.get(digest) ?? { bytes, uses: 0 }
    kept.uses++
    contents.set(digest, kept)
  }
  const letGo = (digest: string) => {
    const kept = contents.get(digest)
    if (kept && --kept.uses === 0) contents.delete(digest)
  }

  function* pagesOf(
    customer: string,
    { prefix = '', after = '', limit = Infinity }: ListOptions = {},
  ) {
    const all = [...(customers.get(customer)?.values() ?? [])].filter(
      ({ name }) => name.startsWith(prefix) && compareUtf8(name, after) > 0,
    )
    const wanted = all.sort((a, b) => compareUtf8(a.name, b.name)).slice(0, limit)
    for (let at = 0; at < wanted.length; at += 1000) yield wanted.slice(at, at + 1000)
  }

  return {
    async put(key, content, { createOnly = false, signal } = {}) {
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      const chunks: Uint8Array[] = []
      for await (const chunk of abortable(content, signal)) chunks.push(chunk)
      // Publishing is what follows, in one step.
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      const bytes = Buffer.concat(chunks)
      const etag = hash('sha256', bytes)
      keep(etag, bytes)
      const earlier = find(key)
      if (earlier) letGo(earlier.etag)
      const info = { name: key.name, size: bytes.length, modifiedAt: new Date(), etag }
      const blobs = customers.get(key.customer) ?? new Map<string, BlobInfo>()
      customers.set(key.customer, blobs.set(key.name, info))
      return info
    },

    async open(key, { range: request } = {}) {
      const info = find(key)
      const kept = info && contents.get(info.etag)
      if (!kept) return undefined
      const range = resolveRange(request, info.size)
      const { offset, length } = range ?? { offset: 0, length: 0 }
      const content = inChunks(kept.bytes, offset, offset + length)
      return { info, range, content, close: async () => {} }
    },

    async stat(key) {
      return find(key)
    },

    async delete(key) {
      const info = find(key)
      if (!info) return false
      letGo(info.etag)
      return customers.get(key.customer)?.delete(key.name) ?? false
    },

    async *list(customer, options) {
      for (const page of pagesOf(customer, options)) yield page.map(({ name }) => name)
    },

    async *listDetails(customer, options) {
      yield* pagesOf(customer, options)
    },

    async usage(customer) {
      const blobs = [...(customers.get(customer)?.values() ?? [])]
      return { blobs: blobs.length, bytes: blobs.reduce((sum, { size }) => sum + size, 0) }
    },

    async *customers() {
      const names = [...customers.keys()].filter((name) => customers.get(name)?.size !== 0)
      yield* names.sort(compareUtf8)
    },
  }
}

async function* inChunks(bytes: Uint8Array, from: number, to: number): AsyncIterable<Uint8Array> {
  const step = 64 * 1024
  // Copies, since the reader may write into them.
  for (let at = from; at < to; at += step)
    yield Uint8Array.from(bytes.subarray(at, Math.min(at + step, to)))
}
