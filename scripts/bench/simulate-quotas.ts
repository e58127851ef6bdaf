/**
 * Simulates many servers that share the last room of one quota: the real accounts and scripts, a real redis-server, and a clock that
 * stands still while Redis works and jumps to the next event otherwise. So no processor makes 100 servers slower than they would be.
 *
 *   node scripts/bench/simulate-quotas.ts 10 30 100
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuotaKeeper, isFileServiceError } from '../../packages/core/dist/index.js'
import { createMemoryBlobStore } from '../../packages/core/src/memory/index.ts'
import {
  openEngine,
  openSharedQuotas,
  type Engine,
} from '../../packages/shared-redis/dist/index.js'
import { median, quantile } from './measure/median.ts'
import { redis } from './subjects/redis.ts'

/** The customer, of whose quota nine tenths are used at the beginning. */
const customer = { name: 'demo', quota: 1024 ** 3 }
const used = Math.floor(0.9 * customer.quota)
const sizes = { least: 4096, most: 256 * 1024 }

/** How many uploads a server has under way, and when it stops: after so many refusals in a row. */
const uploadsAtOnce = 2
const refusalsInARow = 5

/** One way to Redis or to another server, in milliseconds: 0.25 in the middle, and one of a hundred late. */
const latencyMs = () => (Math.random() < 0.01 ? 5 : 0.1 - 0.22 * Math.log(1 - Math.random()))

/** A file on a disk that syncs, in milliseconds. */
const storingMs = () => 2 + Math.random() * 6

interface VirtualClock {
  now(): number
  sleep(ms: number): Promise<void>
  /** Runs `work` of the real world, during which the clock stands still. */
  stopped<T>(work: () => Promise<T>): Promise<T>
  /** Lets time pass until `work` has ended. */
  run(work: Promise<unknown>): Promise<void>
}

interface Timer {
  at: number
  readonly call: () => void
  readonly everyMs: number | undefined
}

/** Replaces the timers of this process. */
function takeTimers(): VirtualClock {
  const timers = new Set<Timer>()
  let time = 0
  let working = 0
  const set = (call: () => void, ms: number, everyMs?: number) => {
    const timer = {
      at: time + Math.max(0, ms),
      call,
      everyMs,
      unref: () => timer,
      ref: () => timer,
    }
    timers.add(timer)
    return timer
  }
  const clear = (timer: unknown) => void timers.delete(timer as Timer)
  const replaced = {
    setTimeout: (call: () => void, ms = 0) => set(call, ms),
    setInterval: (call: () => void, ms: number) => set(call, ms, ms),
    clearTimeout: clear,
    clearInterval: clear,
  }
  Object.assign(globalThis, replaced)
  const idle = () => new Promise((resolve) => setImmediate(resolve))
  const fireNext = () => {
    let next: Timer | undefined
    for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer
    if (next === undefined) throw new Error('The simulation has stopped: no timer is set')
    time = Math.max(time, next.at)
    if (next.everyMs === undefined) timers.delete(next)
    else next.at = time + next.everyMs
    next.call()
  }
  return {
    now: () => time,
    sleep: (ms) => new Promise((resolve) => set(() => resolve(undefined), ms)),
    async stopped(work) {
      working++
      try {
        return await work()
      } finally {
        working--
      }
    },
    async run(work) {
      const state = { isOver: false }
      void work.finally(() => (state.isOver = true)).catch(() => {})
      for (await idle(); !state.isOver; await idle()) if (working === 0) fireNext()
      await work
    },
  }
}

/** Engines of `count` servers that are alive, over one connection, with a network between them. */
function engineFacades(
  real: Engine,
  clock: VirtualClock,
  count: number,
  onTrip: () => void,
): Engine[] {
  const listeners = Array.from(
    { length: count },
    () => new Map<string, ((message: unknown, server: string) => void)[]>(),
  )
  return Array.from({ length: count }, (_, nth) => {
    const own = `server-${nth}-${crypto.randomUUID()}`
    return {
      ...real,
      servers: { own, count: () => count, isDead: () => false, hasLease: () => true },
      async run(...question) {
        onTrip()
        await clock.sleep(latencyMs())
        const answer = await clock.stopped(() => real.run(...question))
        await clock.sleep(latencyMs())
        return answer
      },
      notify(topic, message) {
        // It reaches all others at one moment: a timer for each of them would be most of the work.
        void clock.sleep(2 * latencyMs()).then(() => {
          for (const [other, all] of listeners.entries()) {
            if (other === nth) continue
            for (const listener of all.get(topic) ?? []) listener(message, own)
          }
        })
      },
      onMessage(topic, listener) {
        const all = listeners[nth]
        all?.set(topic, [...(all.get(topic) ?? []), listener])
      },
      onChange() {},
      isAway: () => false,
    }
  })
}

interface Outcome {
  uploads: number
  trips: number
  refusals: number
  /** Refusals of files for which there was room. */
  wrongRefusals: number
  /** What claims near the end have waited, in milliseconds: while less than a 64th of the free tenth was left. */
  readonly waitsMs: number[]
  stored: number
}

async function simulate(real: Engine, clock: VirtualClock, servers: number): Promise<Outcome> {
  const outcome: Outcome = {
    uploads: 0,
    trips: 0,
    refusals: 0,
    wrongRefusals: 0,
    waitsMs: [],
    stored: used,
  }
  const memory = createMemoryBlobStore()
  // Only what is counted matters.
  const store = {
    ...memory,
    usage: async () => {
      const before = { blobs: 1, bytes: outcome.stored }
      await clock.sleep(storingMs())
      return before
    },
  }
  let underWay = 0
  const left = () => customer.quota - outcome.stored - underWay
  const engines = engineFacades(real, clock, servers, () => outcome.trips++)
  const opened = engines.map((engine) =>
    openSharedQuotas(engine, store, { now: () => clock.now() }),
  )
  const keepers = opened.map((shared) => createQuotaKeeper(store, { shared }))
  const size = () => Math.round(sizes.least * (sizes.most / sizes.least) ** Math.random())

  const client = async (keeper: (typeof keepers)[number], name: string) => {
    for (let nth = 0, refused = 0; refused < refusalsInARow; nth++) {
      const bytes = size()
      const begun = clock.now()
      const isNearEnd = left() < (customer.quota - used) / 64
      try {
        const claim = await keeper.claim(customer, `${name}-${nth}`, bytes)
        underWay += bytes
        if (isNearEnd) outcome.waitsMs.push(clock.now() - begun)
        await claim.grow(bytes)
        await clock.sleep(storingMs())
        await claim.prepare()
        claim.settle()
        outcome.stored += bytes
        underWay -= bytes
        claim.end()
        outcome.uploads++
        refused = 0
      } catch (error) {
        if (!isFileServiceError(error, 'quota-exceeded')) throw error
        outcome.refusals++
        refused++
        if (left() >= bytes) outcome.wrongRefusals++
        if (outcome.stored + underWay > customer.quota) throw new Error('The quota is exceeded')
        await clock.sleep(20)
      }
    }
  }
  const all = keepers.flatMap((keeper, nth) =>
    Array.from({ length: uploadsAtOnce }, (_, at) => client(keeper, `${nth}-${at}`)),
  )
  await clock.run(Promise.all(all))
  await clock.run(Promise.all(opened.map((shared) => shared.close())))
  return outcome
}

function describe(servers: number, outcome: Outcome): string {
  const { uploads, trips, refusals, wrongRefusals, waitsMs, stored } = outcome
  const figures = [
    `${servers} servers: ${uploads} uploads`,
    `${(trips / (uploads + refusals)).toFixed(2)} questions to Redis for each upload or refusal`,
    `${refusals} refusals, ${wrongRefusals} although there was room`,
    `near the end a claim waits ${median(waitsMs).toFixed(1)} ms, 99 % at most ${quantile(waitsMs, 0.99).toFixed(0)} ms`,
    `${(customer.quota - stored).toLocaleString('en')} bytes left in the end`,
  ]
  return figures.join('; ')
}

const directory = await mkdtemp(join(tmpdir(), 'holdfast-simulation-'))
const server = await redis.start(directory)
// It never beats: its timers would fire by the virtual clock.
const options = { leaseMs: 86_400_000, timeoutMs: 60_000 }
const engines: Engine[] = []
for (const count of process.argv.slice(2)) {
  const url = `redis://127.0.0.1:${server.port}`
  engines.push(await openEngine({ url, prefix: `simulation-${count}`, ...options }))
}
const {
  setTimeout: realTimeout,
  setInterval: realInterval,
  clearTimeout: end,
  clearInterval: endInterval,
} = globalThis
const clock = takeTimers()
for (const [nth, count] of process.argv.slice(2).entries()) {
  const engine = engines[nth]
  if (engine) console.log(describe(Number(count), await simulate(engine, clock, Number(count))))
}
Object.assign(globalThis, {
  setTimeout: realTimeout,
  setInterval: realInterval,
  clearTimeout: end,
  clearInterval: endInterval,
})
for (const engine of engines) await engine.close()
await server.stop()
await rm(directory, { recursive: true })
