import type { SendingOptions } from '../client.ts'
import type { Transport } from '../transport/transport.ts'
import type { Access } from './access.ts'
import { createRequests, type Requests } from './requests.ts'
import type { Patience } from './with-retries.ts'

const defaultIdleTimeoutMs = 120_000
const defaultRetries = 6

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
    retries = defaultRetries,
    onRetry,
    idleTimeoutMs = defaultIdleTimeoutMs,
  }: Omit<SendingOptions, 'transport'>,
): Sender {
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw new RangeError('retries must be a whole number from 0')
  }
  if (!(idleTimeoutMs > 0)) throw new RangeError('idleTimeoutMs must be above 0')
  return {
    requests: createRequests(access, transport, idleTimeoutMs),
    patience: { retries, onRetry, isOutdated: access.credentials.isOutdated },
  }
}
