import { openEngine, type Engine, type EngineOptions } from '../../src/index.ts'
import {
  startFaultyProxy,
  startRedis,
  type FaultyProxy,
  type FaultyProxyOptions,
  type RedisOptions,
  type RunningRedis,
} from '@holdfast/testing/redis'

/** What a test starts; it ends after the test. */
interface Engines {
  redis(options?: RedisOptions): Promise<RunningRedis>
  proxy(target: RunningRedis, options?: FaultyProxyOptions): Promise<FaultyProxy>
  /** Opens an engine with the shortest lease. */
  open(options: EngineOptions): Promise<Engine>
  /** Has `end` called after the test, before what was started earlier ends. */
  onEnd(end: () => unknown): void
}

/** For the tests of a suite. */
export function useEngines(): Engines {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  const onEnd = (end: () => unknown) => void ends.push(end)
  return {
    async redis(options) {
      const redis = await startRedis(options)
      onEnd(() => redis.stop())
      return redis
    },
    async proxy(target, options) {
      const proxy = await startFaultyProxy(target, options)
      onEnd(() => proxy.close())
      return proxy
    },
    async open(options) {
      const engine = await openEngine({ leaseMs: 3_000, ...options })
      onEnd(() => engine.close())
      return engine
    },
    onEnd,
  }
}

/** A URL for the port of a proxy. */
export function urlOf({ port }: { readonly port: number }): string {
  return `redis://127.0.0.1:${port}`
}

/** Records the changes of an engine. */
export function changesOf(engine: Engine): (readonly [isAway: boolean, reason: string])[] {
  const changes: (readonly [boolean, string])[] = []
  engine.onChange((isAway, reason) => void changes.push([isAway, reason]))
  return changes
}
