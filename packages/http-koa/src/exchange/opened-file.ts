import type { OpenBlob } from '@holdfast/core'
import type { Exchange } from './exchange.ts'
import { onExchangeEnd } from './endings.ts'

/** Leaves the opened file to the route, which takes it from the exchange; closes it at the end if the route does not. */
export function leaveOpened(exchange: Exchange, opening: Promise<OpenBlob>): void {
  exchange.opening = opening
  const close = async () => (await takeOpened(exchange))?.close()
  onExchangeEnd(exchange, () => void close().catch(() => {}))
}

/** The file that has been opened for the request already, to be read or closed by the caller; or why it was not. */
export function takeOpened(exchange: Exchange): Promise<OpenBlob> | undefined {
  const { opening } = exchange
  exchange.opening = undefined
  return opening
}
