import type { KeyedTurns } from '@holdfast/core'
import type { RpcChannel } from './rpc-channel.ts'
import type { TurnHandlers } from './turn-server.ts'

/** Turns that are taken on the other side of `primary`, see `createTurnServer`. */
export function createTurnClient(primary: RpcChannel<TurnHandlers>): KeyedTurns {
  return async (key) => {
    const { id, ...turn } = await primary.ask('takeTurn', { key })
    return { ...turn, end: () => primary.notify('endTurn', { id }) }
  }
}
