/** Bytes of a request. Those of an iterable are taken once. */
export type RequestBody = Uint8Array | Blob | AsyncIterable<Uint8Array>

export interface TransportRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestBody
  /** How many bytes the body has, where that is known. */
  readonly size?: number
  /** Whether browsers are to finish the request when the page is closed meanwhile. */
  readonly keepalive?: boolean
  readonly signal: AbortSignal
  /** Whether a good answer begins before the body has been sent, so that it does not end the sending. Default: false. */
  readonly isAnsweredMeanwhile?: boolean
  /** Whether a chunk of the answer may be valid only until the next one is asked for. Default: false. */
  readonly reuseMemory?: boolean
  /** Called with how many bytes of the body have gone out so far. Never throws. */
  readonly onSent?: (bytes: number) => void
}

export interface TransportResponse {
  readonly status: number
  /** A header's value; the name is in lower case. */
  header(name: string): string | undefined
  /** Breaks off with an error where the connection does. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * How requests are sent on a platform. Bodies are never held in memory as a whole. An answer that comes before the body is
 * sent ends the sending.
 *
 * Rejects when no answer comes, and with the signal's reason when that is aborted.
 */
export interface Transport {
  (request: TransportRequest): Promise<TransportResponse>
  /** Whether it does not call `onSent`, so that smaller pieces have to say how far an upload is. Default: false. */
  readonly isSilent?: boolean
}
