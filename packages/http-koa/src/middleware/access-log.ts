import type { Middleware } from 'koa'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { createAddressOf, type AddressOf } from '../address/address-of.ts'
import type { OnAnswered } from '../exchange/answered-request.ts'
import type { HttpLog } from '../errors/log.ts'
import { createReporter, reportRequests } from './report-requests.ts'

/**
 * Writes one line for each request, once its answer has been sent or cut off. `addressOf` says where a request comes
 * from. Default: the other end of the connection.
 */
export function createAccessLog(
  log: HttpLog,
  addressOf: AddressOf = createAddressOf(),
): Middleware<HoldfastState> {
  return reportRequests(createReporter(addressOf, logAnswers(log)))
}

/** Writes one line for each request that is reported to it. */
export function logAnswers(log: HttpLog): OnAnswered {
  return (answered) => {
    // A rest of the fields would be a copy, made field by field.
    const { requestId, method, path, status, isAborted, durationMs } = answered
    const { bytesIn, bytesOut, customer, isByLink, address, reason } = answered
    log.info(
      {
        requestId,
        method,
        path,
        ...(status !== undefined && { status }),
        ...(isAborted && { aborted: true }),
        durationMs: Math.round(durationMs * 10) / 10,
        bytesIn,
        bytesOut,
        customer,
        ...(isByLink && { link: true }),
        address,
        ...(reason !== undefined && { reason }),
      },
      'request',
    )
  }
}
