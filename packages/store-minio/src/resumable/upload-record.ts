import type { BlobInfo, ResumableUpload, UploadPlan } from '@holdfast/core'

/** Part objects of one append, of one size, in order: `<by>-<first>`, `<by>-<first + 1>`, and so on. */
export interface PartRun {
  readonly by: string
  readonly first: number
  readonly count: number
  /** Of each, in bytes. */
  readonly size: number
}

/** The attempt to make the blob, once its multipart upload has all parts. */
export interface Publication {
  /** In the blob's metadata. */
  readonly mark: string
  readonly multipartId: string
  /** Milliseconds since 1970. */
  readonly since: number
  /** The entity tag that the blob gets, without quotes; empty where it cannot be foreseen. */
  readonly etag: string
}

/** What is known of an upload: one small object. What it does not list is not part of the upload. */
export interface UploadRecord {
  readonly customer: string
  readonly plan: UploadPlan
  readonly parts: readonly PartRun[]
  /** The last part, which is too small for one; it is replaced by a longer one under another name. */
  readonly tail?: PartRun | undefined
  /** Of the last change, by the clock of the process that made it; in milliseconds since 1970. */
  readonly changedAt: number
  /** Milliseconds after the last change at which it expires, if that is sooner than by the plan. */
  readonly expiresAfterMs?: number | undefined
  readonly publishing?: Publication | undefined
  readonly published?: Omit<BlobInfo, 'name' | 'modifiedAt'> & { readonly modifiedAt: number }
  /** Dropped: its objects are being removed. */
  readonly isDiscarded?: boolean
  /** Of this state of the record; no two have the same. */
  readonly revision: string
}

/** How many bytes of the content are there. */
export function offsetOf({ parts, tail, published }: UploadRecord): number {
  const runs = tail ? [...parts, tail] : parts
  return published?.size ?? runs.reduce((sum, { count, size }) => sum + count * size, 0)
}

/** What the rules of uploads are about; one that is being published counts as published. */
export function progressOf(record: UploadRecord) {
  const { plan, published, publishing } = record
  return { plan, offset: offsetOf(record), published: published ?? publishing }
}

/** How many parts there are, without the tail. */
export function countParts({ parts }: UploadRecord): number {
  return parts.reduce((sum, { count }) => sum + count, 0)
}

/** The names of the part objects, in order, with the tail. */
export function partNames({ parts, tail }: UploadRecord): string[] {
  return [...parts, ...(tail ? [tail] : [])].flatMap(({ by, first, count }) =>
    Array.from({ length: count }, (_, index) => `${by}-${first + index}`),
  )
}

/** `parts` with one more at the end. */
export function withPart(parts: readonly PartRun[], part: PartRun): PartRun[] {
  const last = parts.at(-1)
  const goesOn =
    last?.by === part.by && last.size === part.size && last.first + last.count === part.first
  if (!goesOn) return [...parts, part]
  return [...parts.slice(0, -1), { ...last, count: last.count + part.count }]
}

/** Whether the same bytes are there. */
export function hasSameContent(a: UploadRecord, b: UploadRecord): boolean {
  const contentOf = ({ parts, tail, publishing, published, isDiscarded }: UploadRecord) =>
    JSON.stringify([parts, tail, publishing, published, isDiscarded])
  return contentOf(a) === contentOf(b)
}

/** When the upload expires, in milliseconds since 1970. */
export function expiryOf({ changedAt, plan, expiresAfterMs = Infinity }: UploadRecord): number {
  const latestDate = 8.64e15
  return Math.min(changedAt + Math.min(plan.expiresAfterMs, expiresAfterMs), latestDate)
}

/** Whether the upload is to be found at the time `now`. */
export function isKnown(record: UploadRecord, now: number): boolean {
  return record.isDiscarded !== true && now < expiryOf(record)
}

/** The upload as the port has it. */
export function describeUpload(id: string, record: UploadRecord): ResumableUpload {
  const published = publishedBlob(record)
  return {
    id,
    plan: record.plan,
    offset: offsetOf(record),
    expiresAt: new Date(expiryOf(record)),
    ...(published && { published }),
  }
}

export function publishedBlob({ plan, published }: UploadRecord): BlobInfo | undefined {
  if (!published) return undefined
  const { size, etag, modifiedAt } = published
  return { name: plan.name, size, etag, modifiedAt: new Date(modifiedAt) }
}

/** @throws SyntaxError for what is no whole record */
export function parseRecord(text: string): UploadRecord {
  const parsed: unknown = JSON.parse(text)
  if (isRecord(parsed)) return parsed
  throw new SyntaxError('Not the record of an upload')
}

function isRecord(value: unknown): value is UploadRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['customer', 'plan', 'parts', 'changedAt', 'revision'].every((name) => name in value)
  )
}
