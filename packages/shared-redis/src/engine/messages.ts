import { setTimeout as delay } from 'node:timers/promises'
import { SetupError } from '@holdfast/core'
import { backoffMs } from './engine-settings.ts'
import type { EngineNode } from './engine-node.ts'
import { EngineAwayError, within } from './engine-errors.ts'

/** The messages of other servers. */
export interface Messages {
  /** Makes the text of the next message of this server. */
  encode(topic: string, message: unknown): string
  onMessage(topic: string, listener: (message: unknown, server: string) => void): void
  onMissed(listener: () => void): void
  /** How many messages were ignored, since they could not be read. */
  ignored(): number
  /** Resolves when the subscription stands for the first time. Rejects with the first SetupError. */
  readonly ready: Promise<unknown>
  /** Messages that were missed until now do not matter: the user begins now. */
  begin(): void
  /** Ends the connection if it does not answer within `ms` milliseconds. */
  check(ms: number): Promise<void>
  /** Ends the connection, so that another one is made. */
  renew(): void
  close(): void
}

/**
 * Receives messages of other servers. Connects again for ever, and calls the listeners of `onMissed` when messages may have been missed.
 *
 * @param subscribe Makes a connection for messages alone, to a server that now has the messages of all
 */
export function receiveMessages({
  own,
  subscribe,
}: {
  readonly own: string
  readonly subscribe: (receive: (text: string) => void) => Promise<EngineNode>
}): Messages {
  const listeners = new Map<string, ((message: unknown, server: string) => void)[]>()
  const missedListeners: (() => void)[] = []
  /** The number of the last message of each server. */
  const received = new Map<string, number>()
  const ready = Promise.withResolvers<undefined>()
  ready.promise.catch(() => {})
  const closing = new AbortController()
  let sent = 0
  let ignored = 0
  let hasBegun = false
  let node: EngineNode | undefined

  const missed = () => {
    if (hasBegun) for (const listener of missedListeners) listener()
  }
  const receive = (text: string) => {
    const envelope = parseEnvelope(text)
    if (envelope === undefined) return void ignored++
    const { server, number, topic, message } = envelope
    if (server === own) return
    const last = received.get(server)
    remember(received, server, number)
    if (last !== undefined && number !== last + 1) missed()
    try {
      for (const listener of listeners.get(topic) ?? []) listener(message, server)
    } catch {
      // Any program may publish here, so a message in a wrong form is no fault of ours.
      ignored++
    }
  }
  const live = async () => {
    node = await subscribe(receive)
    if (closing.signal.aborted) return node.destroy()
    received.clear()
    ready.resolve(undefined)
    missed()
    await node.lost
  }
  const keep = async () => {
    for (let failures = 0; !closing.signal.aborted; failures++) {
      const began = performance.now()
      await live().catch((error: unknown) => {
        if (error instanceof SetupError) ready.reject(error)
      })
      node?.destroy()
      if (performance.now() - began > longEnoughMs) failures = 0
      await delay(backoffMs(failures), undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  void keep()

  return {
    encode: (topic, message) => JSON.stringify({ server: own, number: ++sent, topic, message }),
    onMessage(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    onMissed: (listener) => void missedListeners.push(listener),
    ignored: () => ignored,
    ready: ready.promise,
    begin: () => void (hasBegun = true),
    async check(ms) {
      const checked = node
      if (checked === undefined || checked.isLost()) return
      await within(checked.send(['PING']), ms).catch((error: unknown) => {
        checked.destroy(error instanceof Error ? error : new EngineAwayError(String(error)))
      })
    },
    renew: () => node?.destroy(),
    close() {
      closing.abort()
      node?.destroy()
    },
  }
}

/** A connection that stood this long was a good one: the next attempt is made at once. */
const longEnoughMs = 5_000

/** How many servers' numbers are remembered. Another program might invent names. */
const rememberedServers = 10_000

function remember(received: Map<string, number>, server: string, number: number): void {
  received.delete(server)
  received.set(server, number)
  if (received.size <= rememberedServers) return
  const [oldest] = received.keys()
  if (oldest !== undefined) received.delete(oldest)
}

interface Envelope {
  readonly server: string
  /** The count of the server's messages up to this one. */
  readonly number: number
  readonly topic: string
  readonly message: unknown
}

function parseEnvelope(text: string): Envelope | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { server, number, topic, message } = value as Partial<Record<keyof Envelope, unknown>>
  const isWhole = typeof server === 'string' && typeof number === 'number'
  return isWhole && typeof topic === 'string' ? { server, number, topic, message } : undefined
}
