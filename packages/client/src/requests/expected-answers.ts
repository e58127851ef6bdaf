import type { TransportResponse } from '../transport/transport.ts'
import { isTime } from './shapes.ts'
import { HoldfastError } from '../shared/holdfast-error.ts'

/** What a successful response of holdfast always has. The page of a captive portal or a proxy does not have all of it. */
export interface ExpectedAnswer {
  readonly statuses: readonly number[]
  /** Its headers, in lower case. */
  readonly headers?: readonly string[]
  /** The media type. */
  readonly type?: string
  /** The whole body. */
  readonly text?: string
}

/** The successful responses of docs/openapi.yaml. JSON shows only after parsing whether it is holdfast's. */
export const expectedAnswers = {
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
} as const satisfies Readonly<Record<string, ExpectedAnswer>>

/** @throws HoldfastError, `unknown`, if the response is not the expected one */
export async function requireExpected(
  response: TransportResponse,
  expected: ExpectedAnswer,
): Promise<void> {
  const { statuses, headers = [], type, text } = expected
  const [given] = (response.header('content-type') ?? '').toLowerCase().split(';')
  const hasHead =
    statuses.includes(response.status) &&
    headers.every((name) => isRight(name, response.header(name))) &&
    (type === undefined || type === given?.trim())
  if (hasHead && text === undefined) return
  const body = await startOf(response.body)
  if (!hasHead || body !== text) throw foreignAnswerError(response, body)
}

function isRight(name: string, value: string | undefined): boolean {
  return name === 'last-modified' ? isTime(value) : value !== undefined
}

/** What the statuses mean when a proxy answers by itself. */
const proxyMeans: Readonly<Record<number, string>> = {
  401: 'refuses this request',
  403: 'refuses this request',
  407: 'refuses this request',
  408: 'did not receive the request in time',
  413: 'does not accept a request as large as this',
  429: 'received too many requests',
  431: 'does not accept headers as large as these',
  500: 'has failed',
  502: 'cannot reach the server',
  503: 'cannot reach the server',
  504: 'got no answer from the server',
}

/** The error for a response that is not holdfast's; `body` is the beginning of its body. */
export function foreignAnswerError(response: TransportResponse, body: string): HoldfastError {
  const { status } = response
  const meaning = proxyMeans[status]
  const sentence =
    meaning === undefined
      ? `There is no holdfast at this address: the server there answered ${status}`
      : `Something in front of the server, such as a proxy, ${meaning} (${status})`
  const seconds = Number(response.header('retry-after') ?? NaN)
  return new HoldfastError('unknown', `${sentence}${wordsOf(response, body)}`, {
    status,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    requestId: response.header('x-request-id'),
  })
}

/** The beginning of a text for people; '' for a web page. */
function wordsOf(response: TransportResponse, body: string): string {
  const text = body.slice(0, 200).trim()
  const isPage = /html|xml/i.test(response.header('content-type') ?? '') || text.startsWith('<')
  return isPage || text === '' ? '' : `: ${text}`
}

/** Longer than any error of the API. */
const longestText = 64 * 1024

/** Reads the text of a body; of a long one only the beginning, and cancels the rest. */
export async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestText) break
  }
  return text
}
