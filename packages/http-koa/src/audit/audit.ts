/** A change of a file, an attempt at one, a refused login, or what was done by a link. `undefined`: unknown, or without meaning. */
export interface AuditEvent {
  /** When it was over. */
  readonly time: Date
  /**
   * A login has an event only when it is refused; `link` is the making of a link to a file, and `download` its use: each
   * response that begins with the file's first byte, any other part if its address has had no such event of that link and
   * content within an hour, and each link that is refused. `upload-link` is the making of a link to upload;
   * its uses are each an `upload`.
   */
  readonly event: 'upload' | 'delete' | 'login' | 'link' | 'upload-link' | 'download'
  /**
   * `refused`: for a reason that is the client's; `failed`: for one that is ours; `aborted`: the connection ended before
   * the request's body did, or before the login was looked at.
   */
  readonly outcome: 'ok' | 'refused' | 'failed' | 'aborted'
  /** Why it was not `ok`: an `ErrorCode` of the core, or a code of `HttpProblem`; `unexpected` for what has none. */
  readonly reason: string | undefined
  /** The customer; for a login, the name that was presented, which may be anything. At most 256 characters. */
  readonly customer: string | undefined
  /** The file's name; one that was refused may be anything. At most 256 characters. */
  readonly file: string | undefined
  /** The size of the file that was stored. */
  readonly bytes: number | undefined
  /** What the client got as `x-request-id`. */
  readonly requestId: string | undefined
  /** The client's IP address. */
  readonly address: string | undefined
  /** Whether it was done, or attempted, by a link: `customer` has made that, and whoever was at `address` has used it. Default: no. */
  readonly isByLink?: boolean
}

/**
 * Records an event. The response waits for it: a client who has read `OK` can rely on the record. If it rejects, the
 * response is 500, although the event has happened.
 */
export type Audit = (event: AuditEvent) => Promise<void>
