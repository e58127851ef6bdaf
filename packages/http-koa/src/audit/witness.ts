import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'
import type { AddressOf } from '../http/address-of.ts'
import { toProblem } from '../http/status.ts'
import type { Audit, AuditEvent } from './audit.ts'

/** What an event is about. */
export type Subject = Partial<Pick<AuditEvent, 'customer' | 'file' | 'bytes'>>

/** Tells the audit trail how something ended: well, or with an error. */
export type Witness = (
  event: AuditEvent['event'],
  subject: Subject,
  ending?: { readonly error: unknown },
) => Promise<void>

/** Gives a request its {@link Witness}; to be asked while the connection is there, since it knows the address. */
export type WitnessOf = (ctx: Context & { state: HoldfastState }) => Witness

/** For where nobody keeps a trail. */
export const noWitness: WitnessOf = () => async () => {}

export function createWitnessOf(audit: Audit, addressOf: AddressOf): WitnessOf {
  return ({ req, state }) => {
    const address = addressOf(req) || undefined
    return (event, { customer, file, bytes }, ending) =>
      audit({
        time: new Date(),
        event,
        ...judge(req, ending),
        customer: shorten(customer ?? state.files?.customer.name),
        file: shorten(file),
        bytes,
        requestId: state.requestId,
        address,
      })
  }
}

/** No name that is allowed is longer than this, in characters of UTF-16. */
const longestName = 255

/** What a stranger sends may be as long as a request's head. */
function shorten(name: string | undefined): string | undefined {
  if (name === undefined || name.length <= longestName) return name
  return `${name.slice(0, longestName).toWellFormed()}…`
}

function judge(
  request: IncomingMessage,
  ending: { readonly error: unknown } | undefined,
): Pick<AuditEvent, 'outcome' | 'reason'> {
  if (ending === undefined) return { outcome: 'ok', reason: undefined }
  const { status, code } = toProblem(ending.error)
  // A client that leaves while its login waits may have sent all of its request.
  const isCut = request.socket.destroyed && (!request.complete || code === 'truncated-body')
  return { outcome: isCut ? 'aborted' : status < 500 ? 'refused' : 'failed', reason: code }
}
