/** The bytes of a request. An iterable is read only once. */
export type RequestBody = Uint8Array | Blob | AsyncIterable<Uint8Array>

export interface TransportRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestBody
  /** How many bytes the body has, if that is known. */
  readonly size?: number
  /** Whether a browser finishes the request even if the page is closed meanwhile. */
  readonly keepalive?: boolean
  readonly signal: AbortSignal
  /** Whether a successful answer begins before the whole body has been sent, and so must not stop the sending. Default: false. */
  readonly isAnsweredMeanwhile?: boolean
  /** Whether a chunk of the answer may be valid only until the next one is asked for. Default: false. */
  readonly reuseMemory?: boolean
  /** Called with how many bytes of the body have been sent so far. Never throws. */
  readonly onSent?: (bytes: number) => void
}

export interface TransportResponse {
  readonly status: number
  /** A header's value; the name is in lower case. */
  header(name: string): string | undefined
  /** Throws if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Sends requests on a platform. It never holds a whole body in memory. An answer that comes before the body is sent stops the sending.
 *
 * Rejects if no answer comes, and with the signal's reason when that aborts.
 */
export interface Transport {
  (request: TransportRequest): Promise<TransportResponse>
  /** Whether it never calls `onSent`, so that only answers to small pieces show how far an upload is. Default: false. */
  readonly isSilent?: boolean
}
