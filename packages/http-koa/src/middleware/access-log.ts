import type { Middleware } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'
import { createAddressOf, type AddressOf } from '../http/address-of.ts'
import type { OnAnswered } from '../http/answered.ts'
import type { HttpLog } from '../http/log.ts'
import { createAnswerWatch, watchAnswers } from './watch-answers.ts'

/**
 * Writes one line for each request, once its answer has been sent or cut off. `addressOf` tells where a request comes
 * from. Default: the other end of the connection.
 */
export function createAccessLog(
  log: HttpLog,
  addressOf: AddressOf = createAddressOf(),
): Middleware<HoldfastState> {
  return watchAnswers(createAnswerWatch(addressOf, logAnswers(log)))
}

/** Writes one line for each request that it is told of. */
export function logAnswers(log: HttpLog): OnAnswered {
  return ({ requestId, method, path, status, isAborted, durationMs, ...answered }) => {
    const { bytesIn, bytesOut, customer, address, reason } = answered
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
        address,
        ...(reason !== undefined && { reason }),
      },
      'request',
    )
  }
}
