import type { KeyedLock } from '@holdfast/core'
import type { RpcChannel } from './rpc-channel.ts'
import type { TurnHandlers } from './turn-server.ts'

/** A lock that is on the other side of `primary`, see `createTurnServer`. */
export function createTurnClient(primary: RpcChannel<TurnHandlers>): KeyedLock {
  return async (key) => {
    const { id } = await primary.ask('takeTurn', { key })
    return () => primary.notify('endTurn', { id })
  }
}
