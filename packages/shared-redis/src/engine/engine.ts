import { randomUUID } from 'node:crypto'
import { SetupError, having } from '@holdfast/core'
import { type AwayListener, keepSession, type SessionKeeper, silenceMs } from './keep-session.ts'
import { EngineAwayError, isMoving, isOwnFault, reasonOf, within } from './engine-errors.ts'
import { connectNode, type EngineNode, accessOf, explained } from './engine-node.ts'
import {
  connectTimeoutMs,
  type EngineOptions,
  type EngineSettings,
  resolveEngineSettings,
} from './engine-settings.ts'
import { evaluate, type Script, checkFormat, formatScript, keyFormat } from './keys-and-scripts.ts'
import { type Messages, receiveMessages } from './messages.ts'
import {
  beatScript,
  createServerWatch,
  forgetScript,
  leaveScript,
  type Servers,
  type ServerWatch,
} from './servers.ts'
import type { Session } from './session.ts'

// What the adapters of this package need of the engine.
export { EngineAwayError } from './engine-errors.ts'
export type { EngineOptions } from './engine-settings.ts'
export { script, type Script } from './keys-and-scripts.ts'
export type { Servers } from './servers.ts'

/** An engine that servers share: Valkey or Redis. */
export interface Engine {
  readonly servers: Servers
  /** A key of the service, or one of `customer`, whose keys are on one node of a cluster. */
  key(name: string, customer?: string): string
  /**
   * Runs a script. In a Cluster, all keys must be on one node, as those of one customer are.
   *
   * @throws EngineAwayError after 250 ms (`timeoutMs`), and at once while the engine is known to be away; the engine's error if the
   * script is wrong
   */
  run(
    script: Script,
    keys: readonly string[],
    args?: readonly (string | number)[],
  ): Promise<unknown>
  /** Sends a message to all other servers. It may be lost; while the engine is away, it is. */
  notify(topic: string, message: unknown): void
  /** Calls `listener` for each message of other servers. A message that makes it throw counts as ignored. */
  onMessage(topic: string, listener: (message: unknown, server: string) => void): void
  /**
   * Calls `listener` when messages may have been missed: after a gap in the subscription, and when another server's message shows that
   * one before it was lost.
   */
  onMissed(listener: () => void): void
  /** How many messages were ignored so far, since they were not in the form of holdfast's: another program publishes. */
  ignoredMessages(): number
  /**
   * Names the data that the engine has: another one if it may have lost some, since it was started again or failed over. In a Cluster
   * it names the data of all masters together. Seldom, as when a master gets its first replica, it changes without a loss. A script never runs on an engine with another history than this. `FLUSHALL` and `DEL` do
   * not change it.
   */
  history(): string
  isAway(): boolean
  /** Why the engine is away, in words, such as `connection refused (10.0.0.1:6379)`; empty if it is not. */
  awayReason(): string
  /**
   * Calls `listener` once when the engine is away, with the reason in words, and once when it is back, with an empty reason. It must not
   * throw.
   */
  onChange(listener: AwayListener): void
  /** Says to the other servers that this one is gone, and ends all connections. */
  close(): Promise<void>
}

/** After how long `openEngine` no longer waits for the engine, in milliseconds. */
const openTimeoutMs = 2_500

/**
 * Connects to the engine. If it cannot be reached, the result is away, and connects in the background, for ever. Takes at most some three
 * seconds.
 *
 * @throws SetupError for wrong options, and for an engine that answers but cannot be used until a person has changed something
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const settings = resolveEngineSettings(options)
  const own = randomUUID()
  const key = keysOf(settings.prefix)
  // Messages know no databases.
  const channel = `${key('messages')}:${settings.address.database}`
  const watch = createServerWatch(own, settings)
  const giveBeat = (session: Session) => showAlive(session, { own, key, watch, settings })
  const publish = (session: Session, text: string) =>
    session.send(undefined, ['PUBLISH', channel, text])

  const keeper = keepSession(settings, {
    async begin(session, isNewHistory) {
      if (isNewHistory) watch.restart()
      // Before the first heartbeat: a server that is refused must not count as one of the others.
      await claimPrefix(session, key('format'), settings)
      await giveBeat(session)
      // Also shows whether this server may publish.
      await publish(session, messages.encode('', null))
      // Another server may have the messages now.
      if (isNewHistory) messages.renew()
    },
    async giveBeat(session) {
      void messages.check(silenceMs)
      await giveBeat(session)
    },
  })
  const messages = receiveMessages({
    own,
    subscribe: (receive) => subscribeTo(channel, receive, { keeper, settings }),
  })
  const close = async () => {
    messages.close()
    await keeper.close((session) => evaluate(session, leaveScript, [key('servers')], [own]))
  }
  try {
    await waitForEngine(keeper, messages)
  } catch (error) {
    await close()
    throw error
  }
  messages.begin()

  return {
    servers: watch.servers,
    key,
    run: (script, keys, args = []) => runInTime(keeper, settings.timeoutMs, { script, keys, args }),
    notify(topic, message) {
      // Counted also where it is not sent: the next one shows the others that they have missed it.
      const text = messages.encode(topic, message)
      const session = keeper.state.isAway() ? undefined : keeper.current()
      if (session !== undefined) publish(session, text).catch(() => {})
    },
    onMessage: (topic, listener) => messages.onMessage(topic, listener),
    onMissed: (listener) => messages.onMissed(listener),
    ignoredMessages: () => messages.ignored(),
    history: () => keeper.history(),
    isAway: () => keeper.state.isAway(),
    awayReason: () => keeper.state.reason(),
    onChange: (listener) => keeper.state.onChange(listener),
    close,
  }
}

/** Names keys. A customer's name is between the only braces, which decide on the node of a Cluster. */
function keysOf(prefix: string): Engine['key'] {
  return (name, customer) =>
    customer === undefined
      ? `${prefix}:${name}`
      : `${prefix}:{${customer.replaceAll(/[%{}]/g, encodeURIComponent)}}:${name}`
}

/** Marks the keys as ours. Rejects with a SetupError if they are not. */
async function claimPrefix(
  session: Session,
  formatKey: string,
  { prefix }: EngineSettings,
): Promise<void> {
  const format = await evaluate(session, formatScript, [formatKey], [keyFormat])
  checkFormat(format, formatKey, prefix)
}

/** Shows this server alive, and looks at the others. Rejects if the engine cannot do its work. */
async function showAlive(
  session: Session,
  {
    own,
    key,
    watch,
    settings,
  }: {
    readonly own: string
    readonly key: Engine['key']
    readonly watch: ServerWatch
    readonly settings: EngineSettings
  },
): Promise<void> {
  const sentAt = settings.now()
  const [answer] = await Promise.all([
    evaluate(session, beatScript, [key('servers')], [own]),
    claimPrefix(session, key('format'), settings),
    session.check(),
  ])
  watch.observe(answer, sentAt)
  const forgotten = watch.forgotten()
  if (forgotten.length > 0) await evaluate(session, forgetScript, [key('servers')], forgotten)
}

/** Makes another connection to a server of the engine, for messages alone. */
async function subscribeTo(
  channel: string,
  receive: (text: string) => void,
  { keeper, settings }: { readonly keeper: SessionKeeper; readonly settings: EngineSettings },
): Promise<EngineNode> {
  const [first] = (await keeper.wait()).nodes
  if (first === undefined) throw new EngineAwayError('The engine has no servers')
  let node: EngineNode | undefined
  try {
    node = await connectNode(first.at, accessOf(settings))
    await within(node.subscribe(channel, receive), connectTimeoutMs)
    return node
  } catch (error) {
    node?.destroy()
    throw await explained(error, first.at, settings)
  }
}

/** Resolves when the engine is reached, or after a while. Rejects only with a SetupError. */
async function waitForEngine(keeper: SessionKeeper, messages: Messages): Promise<void> {
  const opened = keeper.first.then(() => messages.ready)
  try {
    await within(opened, openTimeoutMs)
  } catch (error) {
    if (error instanceof SetupError) throw error
  }
}

/** Runs a script; see {@link Engine}. */
async function runInTime(
  keeper: SessionKeeper,
  timeoutMs: number,
  given: {
    readonly script: Script
    readonly keys: readonly string[]
    readonly args: readonly (string | number)[]
  },
): Promise<unknown> {
  const { state } = keeper
  const session = keeper.current()
  if (session === undefined || state.isAway()) {
    throw new EngineAwayError(`The engine is away: ${state.reason()}`)
  }
  try {
    return await within(evaluate(session, given.script, given.keys, given.args), timeoutMs)
  } catch (error) {
    const reason = reasonOf(error)
    if (isMoving(error))
      throw new EngineAwayError(`The Cluster moves keys: ${reason}`, { cause: error })
    if (isOwnFault(error)) throw error
    if (keeper.current() === session) {
      state.set(reason)
      keeper.beat()
    }
    throw new EngineAwayError(`The engine is away: ${reason}`, { cause: error })
  }
}

/**
 * Refuses what is not an engine.
 *
 * @throws TypeError that says what it is, or what it has not
 */
export const requireEngine: (value: unknown) => void = (value) =>
  having('key', 'run', 'notify', 'onMessage', 'onChange', 'history', 'isAway')('engine', value)
