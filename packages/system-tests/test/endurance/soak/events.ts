import { setTimeout as delay } from 'node:timers/promises'
import { audit, type Audit } from './audit.ts'
import type { Choices } from './choices.ts'
import type { Member } from './fleet.ts'
import type { Ending, Servers } from './servers.ts'
import { SoakViolation } from './violation.ts'

/** How often what has happened to the servers. */
export interface EventCounts {
  kills: number
  stops: number
  /** How often two servers shared the store. */
  pairs: number
  /** How often a server was suspended for a while. */
  suspensions: number
  /** How often all files were looked at. */
  audits: number
}

export interface Events extends Audit {
  readonly servers: Servers
  readonly choices: Choices
  /** The longest time between two events, in milliseconds. */
  readonly calmMs: number
  readonly counts: EventCounts
}

/** The server that clients ask, and whether it was the only one ever since it started. */
interface Watch {
  readonly member: Member
  readonly isAlone: boolean
}

/** Has clients work until `isOver`, with one event after the other; then ends the last server well. */
export async function runEvents(events: Events, isOver: () => boolean): Promise<void> {
  const { world, choices, site } = events
  let watch = await start(events)
  while (!isOver()) {
    world.fleet.open([watch.member])
    await calm(events)
    const event = choices.weighted({ kill: 5, stop: 2, look: 2, pair: 2, suspend: 1 })
    if (event === 'look') await lookAgain(events, watch)
    else if (event === 'pair') watch = await pair(events, watch)
    else if (event === 'suspend') await suspend(events, watch.member)
    else watch = await restart(events, watch, event)
  }
  world.fleet.open([watch.member])
  watch = await restart(events, watch, 'kill')
  await end(events, watch.member, 'stop')
  const problems = await site.problems(new Map(), 0)
  if (problems.length > 0) throw new SoakViolation(`After a clean end: ${problems.join('; ')}`)
}

async function calm({ choices, calmMs }: Events): Promise<void> {
  await delay(choices.between(20, calmMs))
}

/** Suspends a server for a while; clients wait, or go on with another one. */
async function suspend({ choices, counts }: Events, { server }: Member): Promise<void> {
  if (!server.suspend) return
  counts.suspensions++
  await server.suspend(choices.between(50, 800))
}

async function start(events: Events): Promise<Watch> {
  const member = await events.servers.start()
  events.counts.audits++
  await audit(events, member, { patienceMs: 0, isAlone: true })
  return { member, isAlone: true }
}

async function end(events: Events, member: Member, how: Ending, rest?: Member): Promise<void> {
  events.counts[how === 'kill' ? 'kills' : 'stops']++
  await events.servers.end(member, how, rest)
}

async function restart(events: Events, { member }: Watch, how: Ending): Promise<Watch> {
  await end(events, member, how)
  return start(events)
}

/** Looks at everything without a restart: what the server has in its books must be right, too. */
async function lookAgain(events: Events, { member, isAlone }: Watch): Promise<void> {
  await events.world.fleet.close()
  events.counts.audits++
  // Requests that clients have left may still be ending.
  await audit(events, member, { patienceMs: 5000, isAlone })
}

/** A second server joins, and one of the two ends. */
async function pair(events: Events, { member }: Watch): Promise<Watch> {
  const { servers, choices, world, customers, excused, counts } = events
  const [isFirst, how] = [choices.chance(50), choices.pick(['kill', 'stop'] as const)]
  const second = await servers.start()
  counts.pairs++
  for (const { name } of customers) excused.add(name)
  world.fleet.open([member, second])
  await calm(events)
  await suspend(events, choices.pick([member, second]))
  await calm(events)
  const [dead, alive] = isFirst ? [member, second] : [second, member]
  await end(events, dead, how, alive)
  return { member: alive, isAlone: false }
}
