import { abortable } from '../model/abortable.ts'
import { FileServiceError } from '../model/errors.ts'
import { requireBytes } from '../model/require.ts'
import { compareUtf8, sortUtf8 } from '../model/utf8-order.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { BlobKey, BlobStore, ListOptions } from '../ports/blob-store.ts'
import { resolveRange } from '../ports/byte-range.ts'
import { joinChunks, createMemoryResumableUploads } from './memory-resumable-uploads.ts'

interface StoredBlob {
  readonly info: BlobInfo
  readonly bytes: Uint8Array
}

/**
 * A {@link BlobStore} in memory, for tests and examples, and as a model for other adapters. It keeps every promise of the port
 * except one: nothing survives the end of the process.
 */
export function createMemoryBlobStore(now: () => Date = () => new Date()): BlobStore {
  const customers = new Map<string, Map<string, StoredBlob>>()
  const generations = new Map<string, string>()
  const notes = new Map<string, string>()
  let version = 0

  const find = ({ customer, name }: BlobKey) => customers.get(customer)?.get(name)

  const refuseIfTaken = (key: BlobKey) => {
    if (find(key)) throw new FileServiceError('already-exists', 'The name is taken')
  }

  const publish = (key: BlobKey, bytes: Uint8Array): BlobInfo => {
    const info = { name: key.name, size: bytes.length, modifiedAt: now(), etag: `${++version}` }
    const blobs = customers.get(key.customer) ?? new Map<string, StoredBlob>()
    customers.set(key.customer, blobs.set(key.name, { info, bytes }))
    return info
  }

  const namesOf = (
    customer: string,
    { prefix = '', after = '', limit = Infinity }: ListOptions = {},
  ) => {
    const names = [...(customers.get(customer)?.keys() ?? [])]
    const wanted = names.filter((name) => name.startsWith(prefix) && compareUtf8(name, after) > 0)
    return sortUtf8(wanted).slice(0, limit)
  }

  return {
    async put(key, content, { createOnly = false, signal, onReadable } = {}) {
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      const chunks: Uint8Array[] = []
      onReadable?.(async function* () {
        yield* chunks
      })
      const bytes = await collect(abortable(content, signal), chunks)
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      return publish(key, bytes)
    },

    async open(key, { range: request } = {}) {
      const blob = find(key)
      if (!blob) return undefined
      const range = resolveRange(request, blob.info.size)
      const { offset, length } = range ?? { offset: 0, length: 0 }
      const content = inChunks(blob.bytes.subarray(offset, offset + length))
      return { info: blob.info, range, content, close: async () => {} }
    },

    async stat(key) {
      return find(key)?.info
    },

    async delete({ customer, name }) {
      return customers.get(customer)?.delete(name) ?? false
    },

    async rename(key, to, { createOnly = false } = {}) {
      const blob = find(key)
      if (!blob) return undefined
      const target = { ...key, name: to }
      if (createOnly) refuseIfTaken(target)
      customers.get(key.customer)?.delete(key.name)
      return publish(target, blob.bytes)
    },

    async *list(customer, options) {
      yield* pagesOf(namesOf(customer, options))
    },

    async *listDetails(customer, options) {
      const infos = namesOf(customer, options).map((name) => find({ customer, name })?.info)
      yield* pagesOf(infos.filter((info) => info !== undefined))
    },

    async usage(customer) {
      const blobs = [...(customers.get(customer)?.values() ?? [])]
      return { blobs: blobs.length, bytes: blobs.reduce((sum, { info }) => sum + info.size, 0) }
    },

    async *customers() {
      yield* [...customers.keys()].sort(compareUtf8)
    },

    linkGenerations: {
      read: async (customer) => generations.get(customer) ?? '',
      async renew(customer) {
        const generation = `${++version}`
        generations.set(customer, generation)
        return generation
      },
    },

    expiry: {
      async deleteUnchanged(customer, { name, etag }) {
        if (find({ customer, name })?.info.etag !== etag) return false
        return customers.get(customer)?.delete(name) ?? false
      },
      readNote: async (customer) => notes.get(customer) ?? '',
      async writeNote(customer, note) {
        notes.set(customer, note)
        return now()
      },
    },

    resumable: createMemoryResumableUploads((key, bytes, createOnly) => {
      if (createOnly) refuseIfTaken(key)
      return publish(key, bytes)
    }, now),
  }
}

const pageLength = 1000

function* pagesOf<T>(entries: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < entries.length; at += pageLength) yield entries.slice(at, at + pageLength)
}

/** All bytes of `content`; adds its chunks to `chunks` as they arrive. */
async function collect(
  content: AsyncIterable<Uint8Array>,
  chunks: Uint8Array[],
): Promise<Uint8Array> {
  for await (const chunk of content) {
    requireBytes(chunk)
    chunks.push(chunk)
  }
  return joinChunks(chunks)
}

const chunkSize = 64 * 1024

async function* inChunks(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += chunkSize) {
    // Copied, since the reader may write into it.
    yield bytes.slice(offset, offset + chunkSize)
  }
}
