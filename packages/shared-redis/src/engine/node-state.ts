import { SetupError } from '@holdfast/core'
import type { EngineAddress } from './engine-address.ts'
import { EngineAwayError } from './engine-errors.ts'
import type { EngineNode } from './engine-node.ts'
import { permissionRemedy } from './explain-refusal.ts'

/** The fields of `INFO`, such as `redis_version`. */
export type NodeState = ReadonlyMap<string, string>

/** Asks a server for all its fields, or those of one section. */
export async function readState(node: EngineNode, ...section: string[]): Promise<NodeState> {
  return parseState(String(await node.send(['INFO', ...section])))
}

/** Parses the answer to `INFO`. */
export function parseState(text: string): NodeState {
  const pairs = text.split(/\r?\n/).map((line) => /^([^#:][^:]*):(.*)$/.exec(line))
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? '', pair[2] ?? '']])))
}

/**
 * Names the data that a server has. It changes when the server was started again, was another server's replica meanwhile, or was
 * promoted: each time some data may be lost. It also changes, without a loss, when a master gets its first replica, and an hour after it
 * has lost the last one (`repl-backlog-ttl`): the server then takes a new replication ID. It stays after `FLUSHALL`.
 */
export function historyOf(state: NodeState): string {
  return `${state.get('run_id') ?? ''}.${state.get('master_replid') ?? ''}`
}

/** The product and its version, such as `Valkey 8.0.1`. */
export function productOf(state: NodeState): string {
  const valkey = state.get('valkey_version')
  return valkey === undefined ? `Redis ${state.get('redis_version') ?? '?'}` : `Valkey ${valkey}`
}

export function isReplica(state: NodeState): boolean {
  return (state.get('role') ?? 'master') !== 'master'
}

const oldestMajor = 7

/**
 * Refuses a server that cannot count: one that is too old, of another kind than the URL says, or one that drops keys.
 *
 * @throws SetupError; EngineAwayError if it is a replica where that may pass
 */
export function checkState(
  name: string,
  state: NodeState,
  { kind, prefix }: { readonly kind: EngineAddress['kind']; readonly prefix: string },
): void {
  const version = state.get('redis_version')
  if (version === undefined) {
    throw new SetupError(`${name} does not say which engine it is`, [permissionRemedy(prefix)])
  }
  if (!(Number.parseInt(version, 10) >= oldestMajor)) {
    throw new SetupError(`The engine ${name} is ${productOf(state)}, which is too old`, [
      `Install Valkey, or Redis ${oldestMajor} or later`,
    ])
  }
  checkMode(name, state, kind)
  if (isReplica(state)) {
    if (kind !== 'single') throw new EngineAwayError(`READONLY ${name} is a replica`)
    throw new SetupError(`The engine ${name} is a replica, which takes no changes`, [
      `Name its master in the URL: ${state.get('master_host') ?? ''}:${state.get('master_port') ?? ''}`,
      'redis+sentinel://HOST:26379/MASTER-NAME, if Sentinels decide which server is the master',
    ])
  }
  const eviction = evictionProblem(state)
  if (eviction !== undefined) {
    throw new SetupError(`The engine ${name} ${eviction}`, [evictionRemedy])
  }
}

function checkMode(name: string, state: NodeState, kind: EngineAddress['kind']): void {
  const mode = state.get('redis_mode') ?? state.get('server_mode') ?? 'standalone'
  if (mode === 'sentinel') {
    throw new SetupError(`${name} is a Sentinel`, [
      `Write redis+sentinel://${name}/MASTER-NAME for the master that it watches`,
    ])
  }
  if (mode === 'cluster' && kind !== 'cluster') {
    throw new SetupError(`The engine ${name} is a node of a Cluster`, [
      `Write redis+cluster://${name}`,
    ])
  }
}

export const evictionRemedy = 'Set in its configuration: maxmemory-policy noeviction'

/** What is wrong if the server drops keys to make room; `undefined` if it does not. */
export function evictionProblem(state: NodeState): string | undefined {
  const policy = state.get('maxmemory_policy') ?? 'noeviction'
  if (policy === 'noeviction' || Number(state.get('maxmemory') ?? 0) === 0) return undefined
  const which = policy.startsWith('volatile-')
    ? ', and all keys of holdfast have a time to live'
    : ''
  return `drops keys when its memory is full (maxmemory-policy ${policy})${which}: counts would be wrong`
}
