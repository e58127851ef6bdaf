import { randomBytes } from 'node:crypto'
import {
  isFileServiceError,
  type AppendOptions,
  type UploadKey,
  abortable,
  requireBytes,
} from '@holdfast/core'
import { gatherParts } from '../write/gather-parts.ts'
import { createPartBuffers, maxPartMemory, partSize } from '../write/part-buffers.ts'
import { createPartLedger, type PartLedger } from './part-ledger.ts'
import { createPartSender, type PartSender } from './part-sender.ts'
import { putPart, readParts, removeParts } from './part-objects.ts'
import type { UploadObjects } from './upload-keys.ts'
import { countParts, describeUpload, offsetOf } from './upload-record.ts'
import type { StoredRecord } from './upload-records.ts'

const MiB = 1024 * 1024

export interface Append extends AppendOptions {
  readonly upload: UploadKey
  readonly content: AsyncIterable<Uint8Array>
  /** Aborts when a later call wants the upload. */
  readonly interrupted: AbortSignal
}

/**
 * Adds content to the upload that `begun` describes; resolves to the new offset. Parts are new objects; the record lists
 * them once they are stored, one after the other. The tail of earlier appends is put before the content, so that only the
 * last part is small.
 */
export async function appendContent(
  objects: UploadObjects,
  begun: StoredRecord,
  { upload, content, interrupted, signal, release, onState, allOrNothing = false }: Append,
): Promise<number> {
  const failure = new AbortController()
  const signals = [interrupted, failure.signal, ...(signal ? [signal] : [])]
  const source = createAppendSource(
    readParts(objects, upload, begun, tailNames(begun)),
    content,
    AbortSignal.any(signals),
    release,
  )
  const report = ({ record }: StoredRecord) => onState?.(describeUpload(upload.id, record))
  const ledger = createPartLedger(objects, begun, report)
  report(begun)
  const sender = createPartSender(ledger, allOrNothing, {
    store: (name, part) => putPart(objects, upload, name, part),
    onFailure: (error) => failure.abort(error),
  })
  let isFull = false
  try {
    const failed = await sendParts(objects, begun, source, sender).then(source.failure, asFailure)
    await sender.settled()
    if (!failed || !allOrNothing) await sender.recordAll()
    if (failed) throw failed.error
    return offsetOf(ledger.stored().record)
  } catch (error) {
    isFull = isFileServiceError(error, 'insufficient-storage')
    throw error
  } finally {
    await clean(objects, upload, begun, ledger, sender)
    if (isFull) await ledger.expireSoon()
  }
}

function asFailure(error: unknown): { readonly error: unknown } {
  return { error }
}

function tailNames({ record: { tail } }: StoredRecord): string[] {
  return tail ? [`${tail.by}-${tail.first}`] : []
}

async function sendParts(
  objects: UploadObjects,
  { record }: StoredRecord,
  { content, release, taken }: AppendSource,
  sender: PartSender,
): Promise<void> {
  const before = countParts(record)
  const by = randomBytes(9).toString('base64url')
  const buffers = createPartBuffers(objects.budget, maxPartMemory)
  const parts = gatherParts(content, buffers, (number) => partSize(before + number), release)
  for await (const part of parts) {
    if (taken() === 0 || sender.hasFailed()) {
      part.release()
      continue
    }
    const run = { by, first: part.number, count: 1, size: part.bytes.length }
    const isTail = part.isLast && run.size < leastPartSize(before + part.number)
    await sender.send({ run, isTail }, part)
  }
}

/** Removes what no record lists: the old tail, or what this append has stored in vain. */
async function clean(
  objects: UploadObjects,
  upload: UploadKey,
  begun: StoredRecord,
  ledger: PartLedger,
  sender: PartSender,
): Promise<void> {
  const names = ledger.unlisted([...tailNames(begun), ...sender.names()])
  if (names.length > 0) await removeParts(objects, upload, names)
}

/**
 * The least size of the part `number` of an upload in pieces; what is smaller waits for more. S3 joins parts of 5 MiB
 * or more and at most 10,000 of them: however small the pieces are in which a file comes, it may have 216 GiB.
 */
function leastPartSize(number: number): number {
  return number <= 1000 ? 5 * MiB : 24 * MiB
}

/** The content of an append, which ends instead of throwing. */
interface AppendSource {
  /** The tail first, then what the caller gives, until it ends, throws or is stopped. */
  readonly content: AsyncIterable<Uint8Array>
  /** Gives a chunk back to the caller, if it is one of the caller's. */
  readonly release: (chunk: Uint8Array) => void
  /** Bytes of the caller's that were taken. */
  readonly taken: () => number
  /** Why the content ended before its end. */
  readonly failure: () => { readonly error: unknown } | undefined
}

/**
 * What came counts, so that the failure of the content must not lose what has been gathered of it. A failure of `tail`
 * is thrown: nothing has been taken yet.
 */
function createAppendSource(
  tail: AsyncIterable<Uint8Array>,
  given: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
  release: (chunk: Uint8Array) => void = () => {},
): AppendSource {
  let isTail = true
  let taken = 0
  let failure: { readonly error: unknown } | undefined
  async function* content() {
    for await (const chunk of tail) yield chunk
    isTail = false
    try {
      for await (const chunk of abortable(given, stop)) {
        requireBytes(chunk)
        taken += chunk.length
        yield chunk
      }
      stop.throwIfAborted()
    } catch (error) {
      failure = { error }
    }
  }
  return {
    content: content(),
    release: (chunk) => {
      if (!isTail) release(chunk)
    },
    taken: () => taken,
    failure: () => failure,
  }
}
