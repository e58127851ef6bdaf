import { setTimeout as delay } from 'node:timers/promises'
import { nastyNames } from '@holdfast/contract'
import { createChoices } from './choices.ts'
import { runClient, type SoakWorld } from './client.ts'
import { runEvents, type EventCounts } from './events.ts'
import { quota } from './file-size.ts'
import { createFleet } from './fleet.ts'
import { createLedger } from './ledger.ts'
import { createServers } from './servers.ts'
import type { OpenSoakSite } from './soak-site.ts'
import { createTally } from './tally.ts'
import type { SoakCustomer } from './turn.ts'

export interface SoakOptions {
  /** What all choices follow from; a whole number. */
  readonly seed: number
  readonly durationMs: number
  /** How many clients; three share a customer. */
  readonly clients: number
  readonly openSite: OpenSoakSite
  /** The longest time between two events such as a kill, in milliseconds. Default: 2 seconds. */
  readonly calmMs?: number
}

export interface Soak {
  /** How far it is, in one line. */
  progress(): string
  /** One line for each operation: how often, and how it ended. */
  summary(): readonly string[]
  /** All that was done, in one line, with the seed. */
  figures(): string
  /** Resolves when the time is over and all is well; rejects with a SoakViolation, or with what else went wrong. */
  readonly ended: Promise<void>
  /** Ends the run at once, with its servers and what they keep; `ended` rejects. */
  interrupt(): void
}

/** How many clients are of one customer, so that they meet at the same files. */
const clientsPerCustomer = 3
const namesPerRun = 14

/** Begins a run: clients at work on servers that are killed, stopped, doubled and looked at. */
export function startSoak(options: SoakOptions): Soak {
  const { seed, clients } = options
  const startedAt = performance.now()
  const customers = customersFor(clients)
  const world = createWorld(seed)
  const counts: EventCounts = { kills: 0, stops: 0, pairs: 0, suspensions: 0, audits: 0 }
  const interrupted = Promise.withResolvers<never>()
  // It is waited for only while the run goes on.
  interrupted.promise.catch(() => {})
  const passedMs = () => performance.now() - startedAt
  const done = () => {
    const { kills, stops, pairs, suspensions, audits } = counts
    const bytes = `${Math.round(world.tally.bytes() / 1024 ** 2)} MiB`
    const ends = `${kills} kills, ${stops} stops, ${suspensions} suspensions`
    const events = `${ends}, ${pairs} pairs of servers, ${audits} audits`
    return `${world.tally.operations()} operations, ${bytes}, ${events}`
  }

  const run = async () => {
    const site = await options.openSite(customers)
    const servers = createServers(site, world.fleet, world.ledger)
    const clientsAtWork = Array.from({ length: clients }, (_, index) =>
      runClient(world, index + 1, customers[index % customers.length] ?? nobody),
    )
    const choices = createChoices(seed, 'events')
    const { calmMs = 2000 } = options
    const excused = new Set<string>()
    const events = { world, site, servers, customers, excused, choices, calmMs, counts }
    const conducting = runEvents(events, () => passedMs() > options.durationMs)
    // A client ends before the run does only by what it has found.
    const working = Promise.all(clientsAtWork).then(() => conducting)
    try {
      await Promise.race([conducting, working, servers.failed, interrupted.promise]).catch(
        async (error: unknown) => {
          // A server that ended by itself is why connections broke, and is told of a moment later.
          await Promise.race([servers.failed, delay(500)])
          throw error
        },
      )
    } finally {
      world.fleet.end()
      await servers.close()
      await Promise.allSettled([conducting, working, ...clientsAtWork])
      await site.remove()
    }
  }

  return {
    progress: () => `${Math.round(passedMs() / 1000)} s: ${done()}`,
    summary: () => world.tally.lines(),
    figures: () =>
      `${done()}, by ${clients} clients of ${customers.length} customers; seed ${seed}`,
    ended: run(),
    interrupt: () => interrupted.reject(new Error('Interrupted')),
  }
}

const nobody: SoakCustomer = { name: 'nobody', password: 'none' }

function createWorld(seed: number): SoakWorld {
  const choices = createChoices(seed, 'names')
  const [first = 'a', ...others] = choices.some(nastyNames, namesPerRun)
  return {
    seed,
    names: [first, ...others],
    ledger: createLedger(),
    tally: createTally(),
    fleet: createFleet(),
  }
}

/** Every second customer has a quota. */
function customersFor(clients: number): readonly SoakCustomer[] {
  const count = Math.ceil(clients / clientsPerCustomer)
  return Array.from({ length: count }, (_, index) => ({
    name: ['anna', 'zoë', 'Anna', 'bob & co'][index] ?? `customer ${index}`,
    password: `secret ${index}`,
    ...(index % 2 === 1 && { quota }),
  }))
}
