import type { Middleware } from 'koa'
import { toProblem } from '../http/problems.ts'
import { customerOf, exchangeIn, type Exchange, type HoldfastState } from '../server/exchange.ts'
import type { AddressOf } from './address-of.ts'

/**
 * A change of a file, an attempt at one, a refused login, or a use of a link. `undefined` fields are unknown, or have no meaning
 * for the event.
 */
export interface AuditEvent {
  /** When the change, login or use ended. */
  readonly time: Date
  /**
   * `login`: only when it is refused. `link`: a customer made a link to download. `download`: such a link was used, or refused;
   * a response that does not begin with the file's first byte is recorded only if the same address had no `download` of the same
   * link and content within an hour. `upload-link`: a customer made a link to upload; each use of it is an `upload`.
   * `revoke-links`: a customer ended all links. `expire`: the server deleted a file because of its age. `purge`: before their time, the
   * server removed earlier versions of a customer's files.
   */
  readonly event:
    | 'upload'
    | 'delete'
    | 'rename'
    | 'restore'
    | 'expire'
    | 'purge'
    | 'login'
    | 'link'
    | 'upload-link'
    | 'revoke-links'
    | 'download'
  /**
   * `refused`: for a reason on the client's side; `failed`: for one on our side; `aborted`: the connection ended before the
   * whole body arrived, or before the login was checked.
   */
  readonly outcome: 'ok' | 'refused' | 'failed' | 'aborted'
  /** Why `outcome` is not `ok`: an `ErrorCode` of the core, or a code of `HttpProblem`; `unexpected` if the error has none. */
  readonly reason: string | undefined
  /** The customer's name; for a login, the name that the client sent, which may be anything. At most 256 characters. */
  readonly customer: string | undefined
  /** The customer's further login that did it, or has made the link. Absent for the customer's own, and for a refused login. */
  readonly login?: string
  /** The file's name; a refused name may be anything. At most 256 characters. */
  readonly file: string | undefined
  /**
   * For a rename: the new name; for a restore under another name: that. It may be anything if it was refused. At most 256 characters.
   * Otherwise absent.
   */
  readonly to?: string
  /** The size of the file that was stored, or has expired; for `purge` of all that was removed. */
  readonly bytes: number | undefined
  /** For `purge`: how many versions were removed. Otherwise absent. */
  readonly versions?: number
  /** The `x-request-id` that the client got. */
  readonly requestId: string | undefined
  /** The client's IP address. */
  readonly address: string | undefined
  /** Whether a link was used: then `customer` is who made it, and `address` is that of who used it. Default: no. */
  readonly isByLink?: boolean
}

/**
 * Records an event. The response waits for it, so a client that has read `OK` can rely on the record. If it rejects, the
 * response is 500, although the change has been made.
 */
export type Audit = (event: AuditEvent) => Promise<void>

/** The customer and the file of an event. */
type Subject = { readonly to?: string | undefined } & Partial<
  Pick<AuditEvent, 'customer' | 'file' | 'bytes' | 'isByLink'>
>

/** Records how a change, login or use ended: with `ending.error`, or well without an `ending`. */
export type RecordEvent = (
  event: AuditEvent['event'],
  subject: Subject,
  ending?: { readonly error: unknown },
) => Promise<void>

/**
 * Gives a request its {@link RecordEvent}. Call this before the connection ends: the address is unknown afterwards.
 */
export type AuditRecorder = (exchange: Exchange) => RecordEvent

/** Records nothing. */
export const noRecorder: AuditRecorder = () => async () => {}

/** An {@link AuditRecorder} that writes by `audit`. */
export function createAuditRecorder(audit: Audit, addressOf: AddressOf): AuditRecorder {
  return (exchange) => {
    const address = addressOf(exchange.request) || undefined
    const { state } = exchange
    return (event, { customer: presented, file, to, bytes, isByLink }, ending) => {
      const customer = presented === undefined ? customerOf(state) : { name: presented }
      return audit({
        time: new Date(),
        event,
        ...judge(exchange, ending),
        customer: shorten(customer?.name),
        ...(customer?.login !== undefined && { login: customer.login }),
        file: shorten(file),
        ...(to !== undefined && { to: shorten(to) }),
        bytes,
        requestId: state.requestId,
        address,
        ...((isByLink ?? state.link) && { isByLink: true }),
      })
    }
  }
}

/** The longest allowed name, in UTF-16 code units. */
const longestName = 255

/** Shortens `name`: a client may send one as long as a request's head. */
function shorten<Name extends string | undefined>(name: Name): Name | string {
  if (name === undefined || name.length <= longestName) return name
  return `${name.slice(0, longestName).toWellFormed()}…`
}

function judge(
  { request }: Exchange,
  ending: { readonly error: unknown } | undefined,
): Pick<AuditEvent, 'outcome' | 'reason'> {
  if (ending === undefined) return { outcome: 'ok', reason: undefined }
  const { status, code } = toProblem(ending.error)
  // A client that leaves while its login waits may have sent the whole request.
  const isCut = request.socket.destroyed && (!request.complete || code === 'truncated-body')
  return { outcome: isCut ? 'aborted' : status < 500 ? 'refused' : 'failed', reason: code }
}

/**
 * Records in the audit trail how an upload, a deletion, rename or restore of one file, the making of a link, or the end of all links ended;
 * the response waits for the record. This middleware goes before the route, and after authentication.
 */
export function recordChange(
  event: 'upload' | 'delete' | 'rename' | 'restore' | 'link' | 'revoke-links',
  recorder: AuditRecorder,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const exchange = exchangeIn(ctx)
    const record = recorder(exchange)
    const subject = () => ({
      file: ctx.state.fileName,
      to: ctx.state.newName,
      bytes: ctx.state.stored?.size,
    })
    try {
      await next()
    } catch (error) {
      await record(ctx.state.event ?? event, subject(), { error })
      throw error
    }
    // An upload by the draft is not complete yet; the request that completes it is recorded.
    if (event === 'upload' && ctx.state.stored === undefined) return
    await (exchange.recording ?? record(ctx.state.event ?? event, subject()))
  }
}
