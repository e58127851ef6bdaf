/** What requests are counted by: the routes there are, and `other` for what is none of them. */
export const routes = [
  'upload',
  'put',
  'batch',
  'resumable',
  'serve',
  'list',
  'usage',
  'delete',
  'delete-batch',
  'link',
  'ping',
  'other',
] as const

export type Route = (typeof routes)[number]

/** What has become of a request. `undefined`: not known, or of no meaning. */
export interface AnsweredRequest {
  /** What the client got as `x-request-id`. */
  readonly requestId: string | undefined
  /** The route that took it; `other` for paths that are none, and methods that a path does not know. */
  readonly route: Route
  readonly method: string | undefined
  /** As it was sent, without the query. */
  readonly path: string | undefined
  /** The response's; `undefined` if none was sent. */
  readonly status: number | undefined
  /** Whether the response was cut off, usually because the client left: the client did not get it, whatever the status. */
  readonly isAborted: boolean
  /** From the arrival of the headers to the end of the answer. */
  readonly durationMs: number
  /** Bytes of the request and its answer on the connection, headers included. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** The customer's name, once that was known; of a link, the customer who made it. */
  readonly customer: string | undefined
  /** Whether a link has let the request in. */
  readonly isByLink: boolean
  /** The client's IP address. */
  readonly address: string
  /** Why it was refused or failed: an `ErrorCode` of the core, or a code of docs/audit.md; `unexpected` for what has none. */
  readonly code: string | undefined
  /** The same in words for the operator; the client may have got another message. */
  readonly reason: string | undefined
}

/** Called for each request after its response was sent or cut off. Its result is not awaited. */
export type OnAnswered = (answered: AnsweredRequest) => void
