import { abortable } from '../model/concurrency.ts'
import { nameTaken } from '../model/errors.ts'
import { requireBytes } from '../model/require.ts'
import { compareUtf8, sortUtf8 } from '../model/file-name.ts'
import {
  type BlobInfo,
  type BlobKey,
  type ListOptions,
  type OpenBlob,
  resolveRange,
  type ByteRange,
} from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { History, KeptBlob } from '../ports/store-capabilities.ts'
import { joinChunks, createMemoryResumableUploads } from './memory-resumable-uploads.ts'

interface KeptBytes {
  readonly kept: KeptBlob
  readonly bytes: Uint8Array
}

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
  /** By customer and by name, newest first. */
  const earlier = new Map<string, Map<string, KeptBytes[]>>()
  let version = 0

  const find = ({ customer, name }: BlobKey) => customers.get(customer)?.get(name)

  const refuseIfTaken = (key: BlobKey) => {
    if (find(key)) throw nameTaken()
  }

  /** Takes the blob away from its name. */
  const take = ({ customer, name }: BlobKey, keepReplaced = false): boolean => {
    const blob = find({ customer, name })
    if (!blob) return false
    customers.get(customer)?.delete(name)
    if (!keepReplaced) return true
    const kept = { ...blob.info, version: blob.info.etag, replacedAt: now() }
    const names = earlier.get(customer) ?? new Map<string, KeptBytes[]>()
    earlier.set(
      customer,
      names.set(name, [{ kept, bytes: blob.bytes }, ...(names.get(name) ?? [])]),
    )
    return true
  }

  const publish = (key: BlobKey, bytes: Uint8Array, keepReplaced?: boolean): BlobInfo => {
    take(key, keepReplaced)
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
    async put(key, content, { createOnly = false, keepReplaced, signal, onReadable } = {}) {
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      const chunks: Uint8Array[] = []
      onReadable?.(async function* () {
        yield* chunks
      })
      const bytes = await collect(abortable(content, signal), chunks)
      signal?.throwIfAborted()
      if (createOnly) refuseIfTaken(key)
      return publish(key, bytes, keepReplaced)
    },

    async open(key, { range: request } = {}) {
      const blob = find(key)
      if (!blob) return undefined
      const range = resolveRange(request, blob.info.size)
      return { info: blob.info, range, ...partOf(blob.bytes, range) }
    },

    async stat(key) {
      return find(key)?.info
    },

    async delete(key, { keepReplaced } = {}) {
      return take(key, keepReplaced)
    },

    async rename(key, to, { createOnly = false, keepReplaced } = {}) {
      const blob = find(key)
      if (!blob) return undefined
      const target = { ...key, name: to }
      if (createOnly) refuseIfTaken(target)
      take(key)
      return publish(target, blob.bytes, keepReplaced)
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
      async deleteUnchanged(customer, { name, etag }, { keepReplaced } = {}) {
        if (find({ customer, name })?.info.etag !== etag) return false
        return take({ customer, name }, keepReplaced)
      },
      readNote: async (customer) => notes.get(customer) ?? '',
      async writeNote(customer, note) {
        notes.set(customer, note)
        return now()
      },
    },

    history: historyOf(earlier, { find, refuseIfTaken, publish }),

    resumable: createMemoryResumableUploads((key, bytes, { createOnly, keepReplaced }) => {
      if (createOnly) refuseIfTaken(key)
      return publish(key, bytes, keepReplaced)
    }, now),
  }
}

interface Blobs {
  readonly find: (key: BlobKey) => StoredBlob | undefined
  readonly refuseIfTaken: (key: BlobKey) => void
  readonly publish: (key: BlobKey, bytes: Uint8Array, keepReplaced: boolean) => BlobInfo
}

/** The history whose blobs are in `earlier`: by customer and by name, newest first. */
function historyOf(
  earlier: Map<string, Map<string, KeptBytes[]>>,
  { find, refuseIfTaken, publish }: Blobs,
): History {
  const of = ({ customer, name }: BlobKey) => earlier.get(customer)?.get(name) ?? []
  return {
    async *versions(key, { before, limit = Infinity } = {}) {
      const all = of(key).map(({ kept }) => kept)
      // The etags of this store are numbers that grow.
      const wanted = all.filter(
        ({ version }) => before === undefined || Number(version) < Number(before),
      )
      yield* pagesOf(wanted.slice(0, limit))
    },

    async *deleted(customer, { prefix = '', after = '', limit = Infinity } = {}) {
      const names = [...(earlier.get(customer)?.keys() ?? [])].filter(
        (name) =>
          name.startsWith(prefix) &&
          compareUtf8(name, after) > 0 &&
          find({ customer, name }) === undefined,
      )
      const last = sortUtf8(names).flatMap((name) => of({ customer, name }).slice(0, 1))
      yield* pagesOf(last.slice(0, limit).map(({ kept }) => kept))
    },

    async *kept(customer) {
      const all = [...(earlier.get(customer)?.values() ?? [])].flat()
      yield* pagesOf(all.map(({ kept }) => kept))
    },

    async open({ version, ...key }, { range: request } = {}) {
      const found = of(key).find(({ kept }) => kept.version === version)
      if (!found) return undefined
      const { version: _, replacedAt: __, ...info } = found.kept
      const range = resolveRange(request, info.size)
      return { info, range, ...partOf(found.bytes, range) }
    },

    async restore({ version, ...key }, to, { createOnly = false } = {}) {
      const found = of(key).find(({ kept }) => kept.version === version)
      if (!found) return undefined
      const target = { ...key, name: to }
      if (createOnly) refuseIfTaken(target)
      return publish(target, found.bytes, true)
    },

    async purge(customer, before) {
      const usage = { blobs: 0, bytes: 0 }
      const names = earlier.get(customer)
      for (const [name, all] of names ?? []) {
        const left = all.filter(({ kept }) => kept.replacedAt >= before)
        for (const { kept } of all) {
          if (kept.replacedAt >= before) continue
          usage.blobs++
          usage.bytes += kept.size
        }
        if (left.length > 0) names?.set(name, left)
        else names?.delete(name)
      }
      return usage
    },

    async *customers() {
      yield* earlier.keys()
    },
  }
}

function partOf(
  bytes: Uint8Array,
  range: ByteRange | undefined,
): Pick<OpenBlob, 'content' | 'close'> {
  const { offset, length } = range ?? { offset: 0, length: 0 }
  return { content: inChunks(bytes.subarray(offset, offset + length)), close: async () => {} }
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
