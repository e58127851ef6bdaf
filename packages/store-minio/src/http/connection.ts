export interface Timeouts {
  /** Milliseconds within which a connection must be established, TLS included. */
  readonly connectTimeoutMs: number
  /**
   * Milliseconds for which the store may neither take nor send a byte while a request waits for it. In the middle of a body
   * the request fails after twice this time at the latest.
   */
  readonly idleTimeoutMs: number
}

/** The address of a server, and the credentials to use there. */
export interface Connection extends Timeouts {
  /** Such as `http://host:9000`. */
  readonly endpoint: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}
