import type { Transport } from '../transport/transport.ts'
import type { Access } from './access.ts'
import { createRequests, type Requests } from './requests.ts'
import type { Patience, Retry } from './with-retries.ts'

/** How a client sends its requests. */
export interface SendingOptions {
  /**
   * How often a request is sent again when no answer came, or one that may be another later: 408, 409, 429, 502, 503, 504. The first time
   * after half a second at most, then after twice as long each time, up to 16 seconds, and not before the server's `Retry-After`;
   * where that is beyond a minute, the error comes at once. Progress makes the number whole again. Default: 6, half a minute; but 4, some
   * six seconds, where the connection is refused and the server has not answered this client before.
   */
  readonly retries?: number | undefined
  /** Called before each wait for another try. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** How long a request may stand still, in milliseconds. Default: two minutes. */
  readonly idleTimeoutMs?: number | undefined
  /** How requests are sent. Default: by `node:http`; in browsers by `fetch`. */
  readonly transport?: Transport | undefined
}

const defaultIdleTimeoutMs = 120_000
const defaultRetries = 6
/** As long as no server has answered: one that has is being started again, and ends other requests first. */
const defaultRefusals = 4

/** What all that a client does is sent by. */
export interface Sender {
  readonly requests: Requests
  readonly patience: Patience
}

/** @throws RangeError for numbers that cannot be meant */
export function createSender(
  access: Access,
  transport: Transport,
  {
    retries: chosen,
    onRetry,
    idleTimeoutMs = defaultIdleTimeoutMs,
  }: Omit<SendingOptions, 'transport'>,
): Sender {
  const retries = chosen ?? defaultRetries
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw new RangeError('retries must be a whole number from 0')
  }
  if (!(idleTimeoutMs > 0)) throw new RangeError('idleTimeoutMs must be above 0')
  const requests = createRequests(access, transport, idleTimeoutMs)
  const refusals = () =>
    chosen === undefined && !requests.hasAnswered() ? defaultRefusals : retries
  return {
    requests,
    patience: { retries, refusals, onRetry, isOutdated: access.credentials.isOutdated },
  }
}
