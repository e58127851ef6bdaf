import type { FileState } from './file-operation.ts'
import { fileOperation } from './file-operation.ts'
import type { Operation } from './find-order.ts'

/** What one client did to an upload in pieces, and what came of it. */
export interface PieceEvent {
  readonly kind: 'append' | 'look' | 'discard'
  /** Says whose bytes they are. */
  readonly writer: string
  /** The bytes that an append sent. */
  readonly range?: Range
  readonly begin: number
  /** `Infinity` where there was no answer. */
  readonly end: number
  /** `refused`: another request was faster; `taken`: it has all bytes, and its name is taken; `gone`: there is no such upload. */
  readonly outcome: 'done' | 'refused' | 'taken' | 'gone' | 'unknown'
  /** Where the upload stands, by the answer. */
  readonly offset?: number
}

/** Bytes of an upload: from `from` up to `to`, which is no part of them. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** An upload in pieces, and all that was done to it. */
export interface UploadHistory {
  /** No two uploads have the same. */
  readonly label: string
  readonly path: string
  readonly length: number
  readonly createOnly: boolean
  readonly events: PieceEvent[]
  /** Downloads of the file that it became. */
  readonly downloads: Buffer[]
}

const lineLength = 40

/** What `writer` sends of the upload `label`: each byte says whose it is, and where it stands. */
export function bytesOf(label: string, writer: string, { from, to }: Range): Buffer {
  const first = Math.floor(from / lineLength)
  const lines = Array.from({ length: Math.ceil(to / lineLength) - first }, (_, index) =>
    `${label} ${writer} ${(first + index) * lineLength} `.padEnd(lineLength - 1, '.'),
  )
  const begin = first * lineLength
  return Buffer.from(lines.map((line) => `${line}\n`).join('')).subarray(from - begin, to - begin)
}

/** The upload that a file with this content came from. */
export function labelIn(content: Buffer): string | undefined {
  return /^\S+\/\d+(?= )/.exec(content.toString('latin1', 0, lineLength))?.[0]
}

/**
 * What the upload did to its file: it became the file at one moment after the first request that can have sent its last byte, and
 * before the first answer that says that the file is there; each answer that the name is taken says that it was.
 */
export function operationsOf(upload: UploadHistory): readonly Operation<FileState>[] {
  const { label, length, createOnly, events } = upload
  const refusals = events
    .filter(({ outcome }) => outcome === 'taken')
    .map(({ begin, end }) => ({ ...fileOperation.refused(label), begin, end }))
  // A look publishes what has all bytes.
  const completing = events.filter(({ kind, range, outcome }) =>
    kind === 'look'
      ? outcome === 'unknown'
      : range?.to === length && outcome !== 'gone' && outcome !== 'taken',
  )
  const begin = Math.min(
    ...events.filter(({ range }) => range?.to === length).map((one) => one.begin),
  )
  const end = Math.min(...publishedBy(upload).map((event) => event.end))
  if (end === Infinity && completing.length === 0) return refusals
  const operation = createOnly ? fileOperation.create(label) : fileOperation.upload(label)
  const publication = { ...operation, what: `publication of ${label}`, begin, end }
  if (end < Infinity) return [...refusals, publication]
  return [
    ...refusals,
    { ...publication, what: `unanswered ${publication.what}`, explains: () => true },
  ]
}

/** The answers that say that the file is there. */
export function publishedBy({ events, length }: UploadHistory): readonly PieceEvent[] {
  return events.filter(({ outcome, offset }) => outcome === 'done' && offset === length)
}
