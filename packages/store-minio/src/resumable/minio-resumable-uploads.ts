import {
  type BlobInfo,
  createUploadTurns,
  requireLength,
  requireOffset,
  type ResumableUpload,
  type ResumableUploads,
  type UploadKey,
  type UploadPlan,
} from '@holdfast/core'
import { appendContent } from './append-content.ts'
import { dropUpload, findUpload, lookUpUpload } from './drop-upload.ts'
import { forgetOldest, listUploadsOf } from './list-uploads-of.ts'
import { readParts } from './part-objects.ts'
import { publishUpload } from './publish-upload.ts'
import { sweepUploads } from './sweep-uploads.ts'
import { createUploadId, type UploadObjects } from './upload-keys.ts'
import { describeUpload, partNames, progressOf } from './upload-record.ts'
import { changesAllTheTime, createRecord, mostAttempts, replaceRecord } from './upload-records.ts'

/**
 * Uploads in pieces as objects beside the blobs: one small record for each, and parts that the record lists. The server
 * must replace a record only under the condition that it is the one that was read.
 */
export function createMinioResumableUploads(objects: UploadObjects): ResumableUploads {
  const turns = createUploadTurns()
  const turnOf = (upload: UploadKey) => objects.uploadKeys.recordKey(upload)
  return {
    async begin(customer, plan) {
      const id = createUploadId(plan.expiresAfterMs)
      const key = objects.uploadKeys.recordKey({ customer, id })
      const { record } = await createRecord(objects, key, { customer, plan, parts: [] })
      return describeUpload(id, record)
    },

    async state(upload) {
      const stored = await lookUpUpload(objects, upload)
      return stored && describeUpload(upload.id, stored.record)
    },

    append: (upload, offset, content, options = {}) =>
      turns.run(turnOf(upload), async (interrupted) => {
        options.signal?.throwIfAborted()
        interrupted.throwIfAborted()
        const stored = await findUpload(objects, upload)
        requireOffset(progressOf(stored.record), offset)
        return appendContent(objects, stored, { ...options, upload, content, interrupted })
      }),

    interrupt: (upload) => turns.interrupt(turnOf(upload)),

    declareLength: (upload, length) => declareLength(objects, upload, length),

    content: (upload) => contentOf(objects, upload),

    publish: (upload) => turns.run(turnOf(upload), () => publishUpload(objects, upload)),

    remember: (customer, plan, published) => remember(objects, customer, plan, published),

    discard: (upload) => turns.run(turnOf(upload), () => discard(objects, upload)),

    list: (customer): AsyncIterable<readonly ResumableUpload[]> => listUploadsOf(objects, customer),

    sweep: (now) =>
      sweepUploads(objects, {
        now: now.getTime(),
        isRunning: (recordKey) => turns.isRunning(recordKey),
      }),
  }
}

/** Milliseconds for which a client whose blob is safe waits for the record of it. */
const recordPatienceMs = 2_000

/** Where the record cannot be stored, the upload is not known; the blob is safe. */
async function remember(
  objects: UploadObjects,
  customer: string,
  plan: UploadPlan,
  { size, etag, modifiedAt }: BlobInfo,
): Promise<ResumableUpload> {
  const id = createUploadId(plan.expiresAfterMs)
  const published = { size, etag, modifiedAt: modifiedAt.getTime() }
  const next = { customer, plan, parts: [], published }
  const key = objects.uploadKeys.recordKey({ customer, id })
  const record = { ...next, changedAt: Date.now(), revision: '' }
  const keeping = Promise.all([
    createRecord(objects, key, next),
    forgetOldest(objects, [{ key, record }]),
  ]).catch(() => undefined)
  const [stored] = (await atMost(recordPatienceMs, keeping)) ?? []
  return describeUpload(id, stored?.record ?? record)
}

/** What `promise` resolves to; `undefined` if it takes longer. */
function atMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), ms)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

async function declareLength(
  objects: UploadObjects,
  upload: UploadKey,
  length: number,
): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await findUpload(objects, upload)
    const { record } = stored
    requireLength(progressOf(record), length)
    if (record.published || record.plan.length === length) return
    const next = { ...record, plan: { ...record.plan, length } }
    if ((await replaceRecord(objects, stored, next)).stored) return
  }
  throw changesAllTheTime()
}

async function* contentOf(objects: UploadObjects, upload: UploadKey): AsyncGenerator<Uint8Array> {
  const stored = await findUpload(objects, upload)
  yield* readParts(objects, upload, stored, partNames(stored.record))
}

async function discard(objects: UploadObjects, upload: UploadKey): Promise<boolean> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = await lookUpUpload(objects, upload)
    if (!stored) return false
    if (await dropUpload(objects, upload, stored)) return true
  }
  throw changesAllTheTime()
}
