import { createQuotaKeeper, type BlobStore, type QuotaKeeper } from '@holdfast/core'
import {
  EngineAwayError,
  openSharedQuotas,
  type Engine,
  type OpenSharedQuotas,
  type Script,
} from '../../src/index.ts'

/** A server in this process, whose death the test decides. */
export interface SimulatedServer {
  readonly id: string
  readonly engine: Engine
  readonly shared: OpenSharedQuotas
  readonly keeper: QuotaKeeper
  /** The store as this server reaches it. */
  readonly store: BlobStore
  /** As by SIGSTOP: what it asks waits from now on, and what it is answered. */
  suspend(): void
  /** As by SIGCONT. */
  resume(): void
  /** As by SIGKILL: it never goes on, and the others find it dead. */
  kill(): void
  readonly isKilled: boolean
  /** Whether the others find it dead. */
  isDead: boolean
  hasLease: boolean
  /** Loses the answers of scripts, or the questions, while it is set. */
  lost: 'question' | 'answer' | undefined
  /** Awaited before a script that this server runs; the test holds scripts by it. */
  beforeRun: (script: Script) => Promise<void> | void
}

export interface SimulatedServers {
  readonly all: readonly SimulatedServer[]
  open(): SimulatedServer
  /** Ends all. Suspended ones are only forgotten. */
  close(): Promise<void>
}

export interface SimulationOptions {
  readonly now?: () => number
  readonly holdMs?: number
  readonly idleMs?: number
  /** Whether a message is lost. Default: none is. */
  readonly isUnheard?: () => boolean
  readonly onError?: (error: unknown) => void
}

/** Servers that share `base`, a connection to a real engine, and exchange messages at once. */
export function simulateServers(
  base: Engine,
  store: BlobStore,
  { isUnheard = () => false, ...options }: SimulationOptions = {},
): SimulatedServers {
  const all: SimulatedServer[] = []
  const receivers: ((topic: string, message: unknown, from: string) => void)[] = []

  const open = (): SimulatedServer => {
    const id = `server-${all.length}`
    let running: Promise<unknown> = Promise.resolve()
    let goOn: (() => void) | undefined
    let isKilled = false
    const listeners = new Map<string, ((message: unknown, server: string) => void)[]>()
    const deliver = async (topic: string, message: unknown, from: string) => {
      await running
      for (const listener of listeners.get(topic) ?? []) listener(message, from)
    }
    receivers.push((topic, message, from) => {
      if (from !== id && !isUnheard()) void deliver(topic, message, from)
    })
    const engine: Engine = {
      ...base,
      servers: {
        own: id,
        count: () => all.filter(({ isDead }) => !isDead).length,
        isDead: (other) => other !== id && (all.find((one) => one.id === other)?.isDead ?? false),
        hasLease: () => server.hasLease,
      },
      async run(script, keys, args) {
        await running
        await server.beforeRun(script)
        await running
        if (server.lost === 'question') throw new EngineAwayError('The question is lost')
        const answer = await base.run(script, keys, args)
        if (server.lost === 'answer') throw new EngineAwayError('The answer is lost')
        await running
        return answer
      },
      notify(topic, message) {
        void running.then(() => {
          for (const receive of receivers) receive(topic, message, id)
        })
      },
      onMessage: (topic, listener) =>
        void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    }
    const own = stoppable(store, () => running)
    const shared = openSharedQuotas(engine, own, options)
    const server: SimulatedServer = {
      id,
      engine,
      shared,
      store: own,
      keeper: createQuotaKeeper(own, { shared }),
      isDead: false,
      hasLease: true,
      lost: undefined,
      beforeRun: () => {},
      suspend() {
        const { promise, resolve } = Promise.withResolvers<undefined>()
        running = promise
        goOn = () => resolve(undefined)
      },
      kill() {
        isKilled = true
        server.isDead = true
        if (goOn === undefined) server.suspend()
      },
      get isKilled() {
        return isKilled
      },
      resume() {
        goOn?.()
        goOn = undefined
      },
    }
    all.push(server)
    return server
  }

  return {
    all,
    open,
    async close() {
      for (const server of all) {
        server.lost = 'question'
        server.resume()
      }
      await Promise.all(all.map(({ shared }) => shared.close()))
    },
  }
}

/** `store`, whose calls wait for `running` before and after they act. */
function stoppable(store: BlobStore, running: () => Promise<unknown>): BlobStore {
  const act = async <T>(work: () => Promise<T>): Promise<T> => {
    await running()
    const outcome = await work()
    await running()
    return outcome
  }
  const stopped = async function* (content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      await running()
      yield chunk
    }
  }
  const { resumable: uploads } = store
  return {
    ...store,
    put: (...given) => act(() => store.put(...given)),
    delete: (key, options) => act(() => store.delete(key, options)),
    usage: (customer) => act(() => store.usage(customer)),
    stat: (key) => act(() => store.stat(key)),
    ...(uploads && {
      resumable: {
        ...uploads,
        begin: (...given) => act(() => uploads.begin(...given)),
        state: (key) => act(() => uploads.state(key)),
        append: (key, offset, content, options) =>
          act(() => uploads.append(key, offset, stopped(content), options)),
        publish: (...given) => act(() => uploads.publish(...given)),
        discard: (key) => act(() => uploads.discard(key)),
      },
    }),
  }
}
