import type { Middleware } from 'koa'
import { toProblem } from '../http/problems.ts'
import { customerOf, exchangeIn, type Exchange, type HoldfastState } from '../server/exchange.ts'
import type { AddressOf } from './address-of.ts'

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

/** What an event is about. */
type Subject = Partial<Pick<AuditEvent, 'customer' | 'file' | 'bytes' | 'isByLink'>>

/** Records how something ended: well, or with an error. */
export type RecordEvent = (
  event: AuditEvent['event'],
  subject: Subject,
  ending?: { readonly error: unknown },
) => Promise<void>

/**
 * Gives a request its {@link RecordEvent}. To be called while the connection is there: the address is unknown afterwards.
 */
export type AuditRecorder = (exchange: Exchange) => RecordEvent

/** Records nothing. */
export const noRecorder: AuditRecorder = () => async () => {}

/** An {@link AuditRecorder} for a trail. */
export function createAuditRecorder(audit: Audit, addressOf: AddressOf): AuditRecorder {
  return (exchange) => {
    const address = addressOf(exchange.request) || undefined
    const { state } = exchange
    return (event, { customer, file, bytes, isByLink }, ending) =>
      audit({
        time: new Date(),
        event,
        ...judge(exchange, ending),
        customer: shorten(customer ?? customerOf(state)?.name),
        file: shorten(file),
        bytes,
        requestId: state.requestId,
        address,
        ...((isByLink ?? state.link) && { isByLink: true }),
      })
  }
}

/** No name that is allowed is longer than this, in characters of UTF-16. */
const longestName = 255

/** What a client sends may be as long as a request's head. */
function shorten(name: string | undefined): string | undefined {
  if (name === undefined || name.length <= longestName) return name
  return `${name.slice(0, longestName).toWellFormed()}…`
}

function judge(
  { request }: Exchange,
  ending: { readonly error: unknown } | undefined,
): Pick<AuditEvent, 'outcome' | 'reason'> {
  if (ending === undefined) return { outcome: 'ok', reason: undefined }
  const { status, code } = toProblem(ending.error)
  // A client that leaves while its login waits may have sent all of its request.
  const isCut = request.socket.destroyed && (!request.complete || code === 'truncated-body')
  return { outcome: isCut ? 'aborted' : status < 500 ? 'refused' : 'failed', reason: code }
}

/**
 * Records in the audit trail how an upload or deletion of one file ended, or the making of a link, before the client learns
 * of it. Goes before the route, and after authentication.
 */
export function recordChange(
  event: 'upload' | 'delete' | 'link',
  recorder: AuditRecorder,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const exchange = exchangeIn(ctx)
    const record = recorder(exchange)
    const subject = () => ({ file: ctx.state.fileName, bytes: ctx.state.stored?.size })
    try {
      await next()
    } catch (error) {
      await record(ctx.state.event ?? event, subject(), { error })
      throw error
    }
    // An upload by the draft that is not complete: the request that completes it is recorded.
    if (event === 'upload' && ctx.state.stored === undefined) return
    await (exchange.recording ?? record(ctx.state.event ?? event, subject()))
  }
}
