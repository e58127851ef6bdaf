import { createClient, type RedisClientType } from '@redis/client'
import { hostPortText, type HostPort } from './engine-address.ts'
import { EngineAwayError } from './engine-errors.ts'
import type { Login, TlsMaterial } from './engine-settings.ts'

/** How to log in to a server of the engine. */
export interface NodeAccess {
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
