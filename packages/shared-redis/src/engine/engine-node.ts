import { SetupError } from '@holdfast/core'
import { createClient, type RedisClientType } from '@redis/client'
import { hostPortText, type HostPort, type EngineAddress } from './engine-address.ts'
import { EngineAwayError, reasonOf, explainConnection, permissionRemedy } from './engine-errors.ts'
import {
  connectTimeoutMs,
  type EngineSettings,
  type Login,
  type TlsMaterial,
} from './engine-settings.ts'

/** Connects to a server, and refuses one that cannot count. */
export async function openNode(
  at: HostPort,
  settings: EngineSettings,
): Promise<{ readonly node: EngineNode; readonly state: NodeState }> {
  const { address, prefix } = settings
  let node: EngineNode | undefined
  try {
    node = await connectNode(at, accessOf(settings))
    const state = await readStateInTime(node)
    checkState(node.name, state, { kind: address.kind, prefix })
    return { node, state }
  } catch (error) {
    node?.destroy()
    throw await explained(error, at, settings)
  }
}

/** How to log in to the servers of the engine. */
export function accessOf({ login, tls, address }: EngineSettings): NodeAccess {
  return {
    login,
    tls: address.tls ? tls : undefined,
    database: address.database,
    connectTimeoutMs,
  }
}

async function readStateInTime(node: EngineNode): Promise<NodeState> {
  const timer = setTimeout(() => {
    node.destroy(new EngineAwayError(`no answer within ${connectTimeoutMs} ms`))
  }, connectTimeoutMs)
  try {
    return await readState(node)
  } finally {
    clearTimeout(timer)
  }
}

/** The error that says at which server it happened, and what to do where a person must mend it. */
export async function explained(
  error: unknown,
  at: HostPort,
  settings: EngineSettings,
): Promise<Error> {
  if (error instanceof EngineAwayError && error.message.includes(hostPortText(at))) return error
  const { prefix, address } = settings
  const setup = await explainConnection(error, at, { prefix, tls: address.tls })
  return setup ?? new EngineAwayError(`${reasonOf(error)} (${hostPortText(at)})`, { cause: error })
}

/** The first that succeeds; if none does, the error that a person must mend, or otherwise the first error. */
export async function firstOf<T>(attempts: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(attempts)
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    throw errors.find((one) => one instanceof SetupError) ?? errors[0]
  }
}

/** How to log in to a server of the engine. */
interface NodeAccess {
  readonly login: Login
  readonly tls: TlsMaterial | undefined
  readonly database: number
  readonly connectTimeoutMs: number
}

/** One connection to one server of the engine. It ends once and is never connected again, so it belongs to one history. */
export interface EngineNode {
  readonly at: HostPort
  /** `host:port`. */
  readonly name: string
  /** Sends a command. Rejects with the engine's error, or with the reason for which the connection has ended. */
  send(args: readonly string[]): Promise<unknown>
  /** Resolves when the engine has subscribed this connection. */
  subscribe(channel: string, listener: (text: string) => void): Promise<void>
  /** Resolves with the reason when the connection has ended. */
  readonly lost: Promise<Error>
  isLost(): boolean
  /** Ends the connection, and rejects what waits for an answer. Harmless if it has ended. */
  destroy(reason?: Error): void
}

/**
 * Connects, and logs in.
 *
 * @throws the system's error, TLS's, or the engine's answer, unchanged; EngineAwayError if it takes too long
 */
export async function connectNode(at: HostPort, access: NodeAccess): Promise<EngineNode> {
  const client = clientFor(at, access)
  const { promise: lost, resolve } = Promise.withResolvers<Error>()
  let reason: Error | undefined
  const destroy = (why: Error = new EngineAwayError('connection closed')) => {
    if (reason !== undefined) return
    reason = why
    resolve(why)
    if (client.isOpen) client.destroy()
  }
  // Also for bytes that are no Redis: the client reports these, but would go on to read.
  client.on('error', destroy)
  client.on('end', () => destroy(new EngineAwayError('connection lost')))

  const timer = setTimeout(() => {
    destroy(new EngineAwayError(`no answer within ${access.connectTimeoutMs} ms`))
  }, access.connectTimeoutMs)
  try {
    await client.connect()
  } catch (error) {
    const cause = reason ?? (error instanceof Error ? error : new EngineAwayError(String(error)))
    destroy(cause)
    throw cause
  } finally {
    clearTimeout(timer)
  }
  if (reason !== undefined) throw reason

  return {
    at,
    name: hostPortText(at),
    async send(args) {
      try {
        return await client.sendCommand(args)
      } catch (error) {
        // The client's own words say less, such as "The client is closed".
        throw reason ?? error
      }
    },
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    lost,
    isLost: () => reason !== undefined,
    destroy,
  }
}

function clientFor(
  { host, port }: HostPort,
  { login, tls, database, connectTimeoutMs }: NodeAccess,
): RedisClientType {
  const socket = { host, port, connectTimeout: connectTimeoutMs, reconnectStrategy: false as const }
  return createClient({
    ...login,
    database,
    name: 'holdfast',
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Otherwise the client would make an AbortSignal with a timer for each command.
    commandOptions: { timeout: 0 },
    socket: tls === undefined ? socket : { ...socket, ...tls, tls: true },
  })
}

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
