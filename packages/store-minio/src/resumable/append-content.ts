import { randomBytes } from 'node:crypto'
import {
  isFileServiceError,
  type AppendOptions,
  type UploadKey,
  abortable,
  requireBytes,
  expiryWhenFullMs,
  uploadConflict,
  uploadNotFound,
} from '@holdfast/core'
import {
  gatherParts,
  type Part,
  createPartBuffers,
  maxPartMemory,
  partSize,
} from '../write/parts.ts'
import type { UploadObjects } from './upload-keys.ts'
import { putPart, readParts, removeParts } from './upload-objects.ts'
import {
  countParts,
  describeUpload,
  offsetOf,
  type StoredRecord,
  hasSameContent,
  partNames,
  withPart,
  type NextRecord,
  type PartRun,
  type UploadRecord,
  replaceRecord,
} from './upload-records.ts'

const MiB = 1024 * 1024

export interface Append extends AppendOptions {
  readonly upload: UploadKey
  readonly content: AsyncIterable<Uint8Array>
  /** Aborts when a later call wants the upload. */
  readonly interrupted: AbortSignal
}

/**
 * Adds content to the upload that `begun` describes; resolves with the new offset. Parts are new objects; the record lists each part once
 * it and those before it are stored. The tail of earlier appends is read first, so that only the last part is small.
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
  const renewing = allOrNothing && setInterval(() => sender.renew(), renewAfterMs).unref()
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
    if (renewing) clearInterval(renewing)
    await clean(objects, upload, begun, ledger, sender)
    if (isFull) await ledger.expireSoon()
  }
}

/** How often an append that lists its parts at the end says that it goes on, in milliseconds; see `removeOrphans`. */
const renewAfterMs = 60 * 60 * 1000

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
  const buffers = createPartBuffers(objects.budget, maxPartMemory)
  const parts = gatherParts(content, buffers, (number) => partSize(before + number), release)
  for await (const part of parts) {
    if (taken() === 0 || sender.hasFailed()) {
      part.release()
      continue
    }
    const run = { by: sender.by, first: part.number, count: 1, size: part.bytes.length }
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
 * The least size of the part `number` of an upload in pieces; a smaller one waits for more bytes. S3 joins parts of at least 5 MiB, and at
 * most 10,000 of them: so a file may have 216 GiB, however small its pieces are.
 */
function leastPartSize(number: number): number {
  return number <= 1000 ? 5 * MiB : 24 * MiB
}

/** The content of an append. It ends where the caller's content throws. */
interface AppendSource {
  /** The tail first, then the caller's content, until that ends, throws or is stopped. */
  readonly content: AsyncIterable<Uint8Array>
  /** Returns a chunk to the caller, if it is the caller's. */
  readonly release: (chunk: Uint8Array) => void
  /** How many bytes of the caller's were taken. */
  readonly taken: () => number
  /** Why the content ended early. */
  readonly failure: () => { readonly error: unknown } | undefined
}

/**
 * Bytes that arrived count, so a failure of the content must not lose those that have been gathered. A failure of `tail` is thrown, since
 * nothing has been taken yet.
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

/** A part object that is stored or being stored; `isTail` if it is too small for a part. */
export interface NewPart {
  readonly run: PartRun
  readonly isTail: boolean
}

/** Writes the parts of one append into the record of the upload. */
export interface PartLedger {
  /** The record as this append has last written it. */
  readonly stored: () => StoredRecord
  /**
   * Adds `parts`, which are stored and consecutive. @throws FileServiceError `upload-conflict` if another process has replaced the record
   */
  add(parts: readonly NewPart[]): Promise<void>
  /** Notes that the append `by` goes on. Never throws: what it could not note, its end finds out. */
  renew(by: string): Promise<void>
  /** Makes the upload expire soon unless it continues. Never throws: after a failure, the upload expires by its plan. */
  expireSoon(): Promise<void>
  /** Those of `names` that are certainly in no record. A request whose answer was lost may have added the others. */
  unlisted(names: readonly string[]): readonly string[]
}

/**
 * Only the record decides: the first process to replace it gets the offset, the second a conflict. A change that keeps the content, such
 * as a length that becomes known, is merged. `onStored` receives each record that was written.
 */
function createPartLedger(
  objects: UploadObjects,
  begun: StoredRecord,
  onStored: (stored: StoredRecord) => void = () => {},
): PartLedger {
  let stored = begun
  let isDoubtful = false
  let latest: UploadRecord | undefined = begun.record

  async function replace(change: (record: UploadRecord) => NextRecord): Promise<void> {
    const replaced = await replaceRecord(objects, stored, change(stored.record))
    if (replaced.stored) {
      stored = replaced.stored
      latest = stored.record
      onStored(stored)
      return
    }
    const { found } = replaced
    latest = found?.record
    if (!found || found.record.isDiscarded === true) throw uploadNotFound()
    if (!hasSameContent(found.record, stored.record)) {
      throw uploadConflict('Another process has gone on with the upload')
    }
    stored = found
    await replace(change)
  }

  return {
    stored: () => stored,
    async add(parts) {
      try {
        await replace((record) => extend(record, parts))
      } catch (error) {
        isDoubtful =
          !isFileServiceError(error, 'upload-conflict') &&
          !isFileServiceError(error, 'upload-not-found')
        throw error
      }
    },
    async renew(by) {
      await replace((record) => ({ ...record, waiting: by })).catch(() => {})
    },
    async expireSoon() {
      const next = { ...stored.record, expiresAfterMs: expiryWhenFullMs }
      await replaceRecord(objects, stored, next).catch(() => {})
    },
    unlisted: (names) => {
      if (isDoubtful) return []
      const listed = new Set(latest ? partNames(latest) : [])
      return names.filter((name) => !listed.has(name))
    },
  }
}

function extend(record: UploadRecord, added: readonly NewPart[]): NextRecord {
  const { tail: _replaced, expiresAfterMs: _ended, waiting: _listed, ...rest } = record
  const parts = added.filter(({ isTail }) => !isTail).map(({ run }) => run)
  const tail = added.find(({ isTail }) => isTail)?.run
  return { ...rest, parts: parts.reduce(withPart, [...record.parts]), ...(tail && { tail }) }
}

/** Stores the parts of one append, several at a time, and records them in their order. */
interface PartSender {
  /** What the names of its parts begin with. */
  readonly by: string
  /** Starts to store a part; waits first while too many bytes are not recorded. */
  send(part: NewPart, bytes: Part): Promise<void>
  /** Resolves when all parts are stored or have failed. */
  settled(): Promise<void>
  /** Notes in the record that the append goes on. */
  renew(): void
  /** Records the stored parts up to the first gap. @throws the error of a part that failed */
  recordAll(): Promise<void>
  readonly hasFailed: () => boolean
  /** The names of the parts that were sent. */
  readonly names: () => readonly string[]
}

interface PartSenderOptions {
  readonly store: (name: string, part: Part) => Promise<void>
  /** Called when no part can be added any more. */
  readonly onFailure: (error: unknown) => void
}

interface SentPart extends NewPart {
  readonly name: string
  isStored: boolean
}

/** Bytes that may be in transfer, or stored without being recorded; with the part that is gathered, at most 64 MiB. */
const mostUnrecorded = 40 * MiB

/** Records parts as soon as they are stored; with `waits`, only when `recordAll` is called. */
function createPartSender(
  ledger: PartLedger,
  waits: boolean,
  { store, onFailure }: PartSenderOptions,
): PartSender {
  const by = randomBytes(9).toString('base64url')
  const unrecorded: SentPart[] = []
  const names: string[] = []
  const storing: Promise<void>[] = []
  let recording = Promise.resolve()
  let isLost = false
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}

  const fail = (error: unknown) => {
    failure ??= { error }
    onFailure(error)
    wake()
  }

  /** Records the stored parts up to the first that is not stored. */
  async function recordStored(): Promise<void> {
    const end = unrecorded.findIndex(({ isStored }) => !isStored)
    const stored = unrecorded.slice(0, end === -1 ? unrecorded.length : end)
    if (stored.length === 0 || isLost) return
    try {
      await ledger.add(stored)
      unrecorded.splice(0, stored.length)
      wake()
    } catch (error) {
      isLost = true
      fail(error)
    }
  }

  /** One request at a time: the next one records all parts that were stored meanwhile. */
  const queueRecording = () => (recording = recording.then(recordStored))

  async function storePart(sent: SentPart, part: Part): Promise<void> {
    try {
      await store(sent.name, part)
      sent.isStored = true
      if (!waits) void queueRecording()
    } catch (error) {
      fail(error)
    }
  }

  const isFull = (size: number) =>
    unrecorded.length > 0 &&
    size + unrecorded.reduce((sum, { run }) => sum + run.size, 0) > mostUnrecorded

  return {
    by,
    async send(part, bytes) {
      while (!waits && !failure && isFull(part.run.size)) {
        await new Promise<void>((resolve) => (wake = resolve))
      }
      if (failure) return bytes.release()
      const name = `${part.run.by}-${part.run.first}`
      names.push(name)
      const sent = { ...part, name, isStored: false }
      unrecorded.push(sent)
      storing.push(storePart(sent, bytes))
    },
    async settled() {
      await Promise.all(storing)
      await recording
    },
    renew: () => void (recording = recording.then(() => ledger.renew(by))),
    async recordAll() {
      if (!(waits && failure)) await queueRecording()
      if (failure) throw failure.error
    },
    hasFailed: () => failure !== undefined,
    names: () => names,
  }
}
