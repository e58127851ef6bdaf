import { abortable } from '../model/abortable.ts'
import { FileServiceError } from '../model/errors.ts'
import { requireBytes } from '../model/require.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { BlobKey } from '../ports/blob-store.ts'
import type {
  ResumableUpload,
  ResumableUploads,
  UploadKey,
  UploadPlan,
} from '../ports/resumable-uploads.ts'
import { joinChunks } from './join-chunks.ts'
import { createUploadWriter, type UploadWriter } from './upload-writer.ts'

/** Makes `bytes` the blob under `key`; throws `already-exists` where `createOnly` finds the name taken. */
export type StoreBlob = (key: BlobKey, bytes: Uint8Array, createOnly: boolean) => BlobInfo

interface StoredUpload {
  readonly id: string
  plan: UploadPlan
  chunks: Uint8Array[]
  offset: number
  expiresAt: Date
  published?: BlobInfo
  writer?: UploadWriter
}

/** The uploads of a memory store, which `storeBlob` publishes. */
export function createMemoryResumableUploads(
  storeBlob: StoreBlob,
  now: () => Date,
): ResumableUploads {
  const customers = new Map<string, Map<string, StoredUpload>>()

  const find = ({ customer, id }: UploadKey): StoredUpload | undefined => {
    const upload = customers.get(customer)?.get(id)
    return upload && isAlive(upload, now()) ? upload : undefined
  }
  const required = (key: UploadKey): StoredUpload => {
    const upload = find(key)
    if (!upload) throw new FileServiceError('upload-not-found', 'There is no such upload')
    return upload
  }
  const extend = (upload: StoredUpload) => {
    upload.expiresAt = new Date(now().getTime() + upload.plan.expiresAfterMs)
  }
  const add = (upload: StoredUpload, chunk: Uint8Array) => {
    // A copy, since the caller may use its buffer again.
    upload.chunks.push(chunk.slice())
    upload.offset += chunk.length
    extend(upload)
  }

  /** Asked right before a change: several may have waited for the same append to end. */
  const isBusy = (key: UploadKey) => find(key)?.writer !== undefined

  const interrupt = async (key: UploadKey) => {
    const writer = find(key)?.writer
    writer?.stop(conflict('Another request goes on with the upload'))
    await writer?.ended
  }

  return {
    async begin(customer, plan) {
      const id = randomId()
      const upload = { id, plan, chunks: [], offset: 0, expiresAt: now() }
      extend(upload)
      const uploads = customers.get(customer) ?? new Map<string, StoredUpload>()
      customers.set(customer, uploads.set(id, upload))
      return describe(upload)
    },

    async state(key) {
      const upload = find(key)
      return upload && describe(upload)
    },

    async append(key, offset, content, { signal, allOrNothing = false } = {}) {
      signal?.throwIfAborted()
      while (isBusy(key)) await interrupt(key)
      const upload = required(key)
      if (upload.published) throw conflict('The upload is published')
      if (upload.offset !== offset) {
        throw conflict(`The upload stands at ${upload.offset} and not at ${offset} bytes`)
      }
      const writer = createUploadWriter()
      upload.writer = writer
      const signals = signal ? AbortSignal.any([signal, writer.signal]) : writer.signal
      const held: Uint8Array[] = []
      try {
        for await (const chunk of abortable(content, signals)) {
          requireBytes(chunk)
          if (allOrNothing) held.push(chunk)
          else add(upload, chunk)
        }
        signals.throwIfAborted()
        for (const chunk of held) add(upload, chunk)
        return upload.offset
      } finally {
        delete upload.writer
        writer.end()
      }
    },

    interrupt,

    async declareLength(key, length) {
      const upload = required(key)
      const declared = upload.plan.length ?? length
      if (declared !== length) throw conflict(`The length is ${declared} and not ${length} bytes`)
      if (upload.offset > length) throw conflict(`The upload has ${upload.offset} bytes already`)
      upload.plan = { ...upload.plan, length }
      extend(upload)
    },

    async *content(key) {
      yield* required(key).chunks
    },

    async publish(key) {
      while (isBusy(key)) await interrupt(key)
      const upload = required(key)
      if (upload.published) return upload.published
      const { name, length = upload.offset, createOnly = false } = upload.plan
      if (upload.offset !== length) {
        throw conflict(`The upload has ${upload.offset} of ${length} bytes`)
      }
      const bytes = joinChunks(upload.chunks)
      upload.published = storeBlob({ customer: key.customer, name }, bytes, createOnly)
      upload.chunks = []
      extend(upload)
      return upload.published
    },

    async discard(key) {
      while (isBusy(key)) await interrupt(key)
      return find(key) !== undefined && customers.get(key.customer)?.delete(key.id) === true
    },

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

function isAlive({ writer, expiresAt }: StoredUpload, time: Date): boolean {
  return writer !== undefined || expiresAt > time
}

function describe({ id, plan, offset, expiresAt, published }: StoredUpload): ResumableUpload {
  return { id, plan, offset, expiresAt, ...(published && { published }) }
}

function conflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
