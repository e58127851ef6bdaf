import type { BlobInfo, UploadPlan } from '@holdfast/core'

/** What is known of an upload beside its content. */
export interface UploadRecord {
  readonly plan: UploadPlan
  /** The blob that the content becomes, written before it does; it has become one once the content is not here any more. */
  readonly publishing?: BlobInfo
}

/** The text of the record's file. */
export function formatRecord(record: UploadRecord): string {
  return JSON.stringify(record) + '\n'
}

/** The record in `text`; `undefined` if it is damaged. */
export function parseRecord(text: string): UploadRecord | undefined {
  const { plan, publishing } = membersOf(parseJson(text))
  if (!isPlan(plan)) return undefined
  if (publishing === undefined) return { plan }
  const { name, size, modifiedAt, etag } = membersOf(publishing)
  if (typeof name !== 'string' || typeof size !== 'number' || typeof etag !== 'string') {
    return undefined
  }
  return { plan, publishing: { name, size, modifiedAt: new Date(String(modifiedAt)), etag } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function isPlan(value: unknown): value is UploadPlan {
  const { name, length, createOnly, sha256, note, link, expiresAfterMs } = membersOf(value)
  const may = (member: unknown, type: string) => member === undefined || typeof member === type
  return (
    typeof name === 'string' &&
    typeof expiresAfterMs === 'number' &&
    may(length, 'number') &&
    may(createOnly, 'boolean') &&
    may(sha256, 'string') &&
    may(note, 'string') &&
    may(link, 'string')
  )
}
