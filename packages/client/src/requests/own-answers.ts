import { notOwn } from './not-own.ts'
import type { TransportResponse } from '../transport/transport.ts'
import { isTime } from './shapes.ts'
import { startOf } from './start-of.ts'

/** What a successful answer of holdfast always has. The page of a captive portal or of a proxy has not all of it. */
export interface OwnAnswer {
  readonly statuses: readonly number[]
  /** Its headers, in lower case. */
  readonly headers?: readonly string[]
  /** The media type. */
  readonly type?: string
  /** The whole body. */
  readonly text?: string
}

/** The successful answers of docs/openapi.yaml. JSON has to be parsed before it is known whose it is. */
export const ownAnswers = {
  pong: { statuses: [200], text: 'pong' },
  stored: { statuses: [200], headers: ['etag'], text: 'OK' },
  deleted: { statuses: [200], text: 'OK' },
  batch: { statuses: [200], type: 'application/x-ndjson' },
  json: { statuses: [200] },
  file: { statuses: [200, 206], headers: ['etag', 'last-modified', 'content-disposition'] },
  uploadBegun: { statuses: [201], headers: ['tus-resumable', 'location'] },
  uploadState: { statuses: [200], headers: ['tus-resumable', 'upload-offset'] },
  uploadContinued: { statuses: [204], headers: ['tus-resumable', 'upload-offset'] },
  uploadEnded: { statuses: [204], headers: ['tus-resumable'] },
} as const satisfies Readonly<Record<string, OwnAnswer>>

/** @throws HoldfastError, `unknown`, if the response is not the one that is expected */
export async function requireOwn(response: TransportResponse, expected: OwnAnswer): Promise<void> {
  const { statuses, headers = [], type, text } = expected
  const [given] = (response.header('content-type') ?? '').toLowerCase().split(';')
  const hasHead =
    statuses.includes(response.status) &&
    headers.every((name) => isRight(name, response.header(name))) &&
    (type === undefined || type === given?.trim())
  if (hasHead && text === undefined) return
  const body = await startOf(response.body)
  if (!hasHead || body !== text) throw notOwn(response, body)
}

function isRight(name: string, value: string | undefined): boolean {
  return name === 'last-modified' ? isTime(value) : value !== undefined
}
