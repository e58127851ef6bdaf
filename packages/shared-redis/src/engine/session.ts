import { EngineAwayError } from './engine-errors.ts'
import type { EngineNode } from './engine-node.ts'
import { historyOf, isReplica, type NodeState, readState } from './node-state.ts'

/** Connections to all servers of an engine that take changes. All of a session belongs to one history; it ends as a whole. */
export interface Session {
  readonly history: string
  /** One, or the masters of a Cluster. */
  readonly nodes: readonly EngineNode[]
  /** The fields of each of `nodes`, as they were when the session began. */
  readonly states: readonly NodeState[]
  /** Sends a command to the server that has `key`. */
  send(key: string | undefined, args: readonly string[]): Promise<unknown>
  /** Whether all servers still answer, have the data of this session, and take changes. Rejects, and ends the session, otherwise. */
  check(): Promise<void>
  /** Resolves with the reason when one of the connections has ended. */
  readonly lost: Promise<Error>
  isLost(): boolean
  destroy(reason?: Error): void
}

/** What sessions of all kinds have in common. */
export function joinNodes(
  nodes: readonly EngineNode[],
  states: readonly NodeState[],
): Omit<Session, 'send'> {
  const histories = states.map(historyOf)
  const destroy = (reason?: Error) => {
    for (const node of nodes) node.destroy(reason)
  }
  const checkNode = async (node: EngineNode, nth: number) => {
    const state = await readState(node, 'replication')
    const replid = state.get('master_replid') ?? ''
    if (!isReplica(state) && histories[nth]?.endsWith(`.${replid}`)) return
    const reason = isReplica(state)
      ? `READONLY ${node.name} was made a replica`
      : `${node.name} has begun a new history of its data`
    const error = new EngineAwayError(reason)
    node.destroy(error)
    throw error
  }
  return {
    history: histories.toSorted().join(' '),
    nodes,
    states,
    async check() {
      await Promise.all(nodes.map(checkNode))
    },
    lost: Promise.race(nodes.map(({ lost }) => lost)),
    isLost: () => nodes.some((node) => node.isLost()),
    destroy,
  }
}
