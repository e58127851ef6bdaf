import type { Exchange } from '../exchange/exchange.ts'
import type { AddressOf } from '../address/address-of.ts'
import { toProblem } from '../errors/status.ts'
import { customerOf } from '../exchange/customer-of.ts'
import type { Audit, AuditEvent } from './audit.ts'

/** What an event is about. */
export type Subject = Partial<Pick<AuditEvent, 'customer' | 'file' | 'bytes' | 'isByLink'>>

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
