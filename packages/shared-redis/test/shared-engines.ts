import { openEngine, type Engine, type EngineOptions } from '../src/index.ts'
import { startRedis, type RunningRedis } from '@holdfast/testing/redis'

/** Several servers of one real `redis-server`. */
export interface SharedEngines {
  readonly redis: KillableRedis
  readonly engines: readonly Engine[]
  /** The engine number `n`, from 0. */
  readonly engine: (n: number) => Engine
  /** Opens one more. */
  readonly open: () => Promise<Engine>
  /** Resolves when every engine has got all messages that the others have sent before. */
  readonly settle: () => Promise<void>
  /** Removes everything. */
  readonly close: () => Promise<void>
}

/** A `redis-server` without persistence that a test kills and starts again at the same address. */
export interface KillableRedis {
  readonly url: string
  readonly pid: () => number
  /** Ends it by SIGKILL. Its data are lost. */
  readonly kill: () => Promise<void>
  readonly startAgain: () => Promise<void>
}

async function startKillable(): Promise<KillableRedis> {
  const { url, port, ...first } = await startRedis()
  let running: Pick<RunningRedis, 'pid' | 'stop'> | undefined = first
  return {
    url,
    pid: () => running?.pid ?? 0,
    async kill() {
      await running?.stop()
      running = undefined
    },
    async startAgain() {
      // The last one of two equal options counts.
      running = await startRedis(['--port', `${port}`])
    },
  }
}

export async function openEngines(
  count: number,
  options: Omit<EngineOptions, 'url'> = {},
): Promise<SharedEngines> {
  const redis = await startKillable()
  const engines: Engine[] = []
  const arrivals = new Map<string, () => void>()
  let markers = 0
  const open = async () => {
    // A busy machine may take longer than a request waits.
    const engine = await openEngine({
      url: redis.url,
      leaseMs: 3_000,
      timeoutMs: 5_000,
      ...options,
    })
    engine.onMessage('test-marker', (marker) =>
      arrivals.get(`${engine.servers.own} ${String(marker)}`)?.(),
    )
    engines.push(engine)
    return engine
  }
  for (let n = 0; n < count; n++) await open()

  /** Sends a marker, and resolves when all others have it. */
  const sendMarker = async (sender: Engine) => {
    const marker = markers++
    const arrived = engines
      .filter((engine) => engine !== sender)
      .map((engine) => {
        const { promise, resolve } = Promise.withResolvers<undefined>()
        arrivals.set(`${engine.servers.own} ${marker}`, () => resolve(undefined))
        return promise
      })
    // Repeated, since an engine that has just come back may not have subscribed yet.
    const send = () => sender.notify('test-marker', marker)
    const repetition = setInterval(send, 100)
    send()
    await Promise.all(arrived)
    clearInterval(repetition)
  }
  return {
    redis,
    engines,
    engine(n) {
      const engine = engines[n]
      if (engine === undefined) throw new RangeError(`There is no engine ${n}`)
      return engine
    },
    open,
    async settle() {
      // What is sent at the end of this tick goes before the markers.
      await new Promise((resolve) => setImmediate(resolve))
      // A script that Redis does not know yet is sent again: only then has it gone before the markers, too.
      await Promise.all(engines.map((engine) => engine.run(nothing, []).catch(() => {})))
      await Promise.all(engines.map(sendMarker))
    },
    async close() {
      for (const engine of engines) await engine.close()
      await redis.kill()
    },
  }
}

/** A script that does nothing: when it ends, the engine has done what the server had sent before. */
export const nothing = { source: 'return 0', sha1: '0'.repeat(40) }

/** Resolves when `isSo` holds; looks each 10 ms. The test's own time limit ends it otherwise. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Loses what `engine` sends on topics with the prefix, until the function that it returns is called. */
export function losing(engine: Engine, prefix: string): () => void {
  const notify = engine.notify.bind(engine)
  engine.notify = (topic, message) => {
    if (!topic.startsWith(prefix)) notify(topic, message)
  }
  return () => {
    engine.notify = notify
  }
}
