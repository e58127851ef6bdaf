import { abortable } from '../model/concurrency.ts'
import { requireBytes } from '../model/require.ts'
import {
  createPublishedUploads,
  uploadNotFound,
  requireComplete,
  requireLength,
  requireOffset,
  createUploadQueue,
} from '../model/upload-rules.ts'
import type { BlobInfo, BlobKey } from '../ports/blob.ts'
import type { PutOptions } from '../ports/blob-store.ts'
import type {
  ResumableUpload,
  ResumableUploads,
  UploadKey,
  UploadPlan,
} from '../ports/resumable-uploads.ts'

/** Stores `bytes` as the blob of `key`; throws `already-exists` for `createOnly` if the name is taken. */
export type StoreBlob = (key: BlobKey, bytes: Uint8Array, options: PutOptions) => BlobInfo

interface StoredUpload {
  readonly id: string
  plan: UploadPlan
  chunks: Uint8Array[]
  offset: number
  expiresAt: Date
  published?: BlobInfo
  /** Whether an append is under way; meanwhile the upload does not expire. */
  isGrowing: boolean
}

/** The uploads of a memory store; `storeBlob` publishes them. */
export function createMemoryResumableUploads(
  storeBlob: StoreBlob,
  now: () => Date,
): ResumableUploads {
  const customers = new Map<string, Map<string, StoredUpload>>()
  const queue = createUploadQueue()
  const published = createPublishedUploads()
  const queueKey = ({ customer, id }: UploadKey) => `${customer}/${id}`

  const find = ({ customer, id }: UploadKey): StoredUpload | undefined => {
    const upload = customers.get(customer)?.get(id)
    return upload && isAlive(upload, now()) ? upload : undefined
  }
  const required = (key: UploadKey): StoredUpload => {
    const upload = find(key)
    if (!upload) throw uploadNotFound()
    return upload
  }
  const keep = (customer: string, upload: StoredUpload) => {
    const uploads = customers.get(customer) ?? new Map<string, StoredUpload>()
    customers.set(customer, uploads.set(upload.id, upload))
  }
  const forgetOldest = (customer: string, { id, plan, expiresAt }: StoredUpload) => {
    const changedAt = expiresAt.getTime() - plan.expiresAfterMs
    const oldest = published.add(customer, { id, link: plan.link, changedAt })
    for (const each of oldest) customers.get(customer)?.delete(each)
  }
  const extend = (upload: StoredUpload) => {
    upload.expiresAt = new Date(now().getTime() + upload.plan.expiresAfterMs)
  }
  const add = (upload: StoredUpload, chunk: Uint8Array) => {
    // Copied, since the caller may reuse its buffer.
    upload.chunks.push(chunk.slice())
    upload.offset += chunk.length
    extend(upload)
  }

  return {
    async begin(customer, plan) {
      const id = randomId()
      const upload = { id, plan, chunks: [], offset: 0, expiresAt: now(), isGrowing: false }
      extend(upload)
      keep(customer, upload)
      return describe(upload)
    },

    async state(key) {
      const upload = find(key)
      return upload && describe(upload)
    },

    async append(key, offset, content, options = {}) {
      const { signal, allOrNothing = false, onState = () => {} } = options
      signal?.throwIfAborted()
      return queue.run(queueKey(key), async (interrupted) => {
        const upload = required(key)
        requireOffset(upload, offset)
        const ending = signal ? AbortSignal.any([signal, interrupted]) : interrupted
        const held: Uint8Array[] = []
        onState(describe(upload))
        upload.isGrowing = true
        try {
          for await (const chunk of abortable(content, ending)) {
            requireBytes(chunk)
            if (allOrNothing) {
              held.push(chunk)
            } else {
              add(upload, chunk)
              onState(describe(upload))
            }
          }
          ending.throwIfAborted()
          for (const chunk of held) add(upload, chunk)
          if (held.length > 0) onState(describe(upload))
          return upload.offset
        } finally {
          upload.isGrowing = false
        }
      })
    },

    interrupt: (key) => queue.interrupt(queueKey(key)),

    async declareLength(key, length) {
      const upload = required(key)
      requireLength(upload, length)
      if (upload.published) return
      upload.plan = { ...upload.plan, length }
      extend(upload)
    },

    async *content(key) {
      yield* required(key).chunks
    },

    publish: (key, { keepReplaced = false } = {}) =>
      queue.run(queueKey(key), async () => {
        const upload = required(key)
        if (upload.published) return upload.published
        requireComplete(upload)
        const { name, createOnly = false } = upload.plan
        const bytes = joinChunks(upload.chunks)
        upload.published = storeBlob({ customer: key.customer, name }, bytes, {
          createOnly,
          keepReplaced,
        })
        upload.chunks = []
        extend(upload)
        forgetOldest(key.customer, upload)
        return upload.published
      }),

    async remember(customer, plan, published) {
      const upload = {
        ...{ id: randomId(), plan, chunks: [], offset: published.size },
        ...{ expiresAt: now(), published, isGrowing: false },
      }
      extend(upload)
      keep(customer, upload)
      forgetOldest(customer, upload)
      return describe(upload)
    },

    discard: (key) =>
      queue.run(queueKey(key), async () => {
        return find(key) !== undefined && customers.get(key.customer)?.delete(key.id) === true
      }),

    async *list(customer) {
      const uploads = [...(customers.get(customer)?.values() ?? [])]
      const unfinished = uploads.filter((one) => isAlive(one, now()) && !one.published)
      for (let at = 0; at < unfinished.length; at += pageLength) {
        yield unfinished.slice(at, at + pageLength).map(describe)
      }
    },

    async sweep(time) {
      let removed = 0
      for (const uploads of customers.values()) {
        for (const [id, upload] of uploads) {
          if (isAlive(upload, time)) continue
          uploads.delete(id)
          if (!upload.published) removed++
        }
      }
      return removed
    },
  }
}

const pageLength = 1000

function isAlive({ isGrowing, expiresAt }: StoredUpload, time: Date): boolean {
  return isGrowing || expiresAt > time
}

function describe({ id, plan, offset, expiresAt, published }: StoredUpload): ResumableUpload {
  return { id, plan, offset, expiresAt, ...(published && { published }) }
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes of all `chunks`. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
