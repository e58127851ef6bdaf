import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, replyOf } from './ask.ts'
import { createTurns, type SoakWorld } from './client.ts'
import { createChoices } from './choices.ts'
import type { Member } from './fleet.ts'
import { list } from './lists.ts'
import { readWhole } from './reads.ts'
import type { SoakSite } from './soak-site.ts'
import type { SoakCustomer, Turn } from './turn.ts'
import { SoakViolation } from './violation.ts'

/** A look at everything while no client is doing anything. */
export interface Audit {
  readonly world: SoakWorld
  readonly site: SoakSite
  readonly customers: readonly SoakCustomer[]
  /** Those whose files may exceed their quota, since two servers have counted it each for itself. */
  readonly excused: Set<string>
}

export interface AuditOptions {
  /**
   * How long it may take until all is as it should be, in milliseconds: requests that clients have left may still be
   * ending.
   */
  readonly patienceMs: number
  /**
   * Whether no other server was there since it started: one may have changed files that this one has counted, and left
   * what it had under way, to be removed by the next that starts.
   */
  readonly isAlone: boolean
}

/**
 * Lists and reads all files of all customers, and compares what they come to with the store and with what the server
 * takes for a customer's usage.
 *
 * @throws SoakViolation
 */
export async function audit(
  { world, site, customers, excused }: Audit,
  member: Member,
  { patienceMs, isAlone }: AuditOptions,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (true) {
    const bytes = new Map<string, number>()
    const found: string[] = []
    await Promise.all(
      customers.map(async (customer) => {
        const turns = createTurns(world, customer, 'audit', createChoices(0, 'audit'))
        const turn = turns.begin(member, 'audit')
        const used = await readAll(turn)
        bytes.set(customer.name, used)
        if (isAlone) found.push(...(await quotaProblems(turn, used, excused)))
        turns.end()
      }),
    )
    found.push(...(await site.problems(bytes, isAlone ? 1 : undefined)))
    if (found.length === 0 || member.isDoomed) return
    if (performance.now() > deadline) throw new SoakViolation(`At rest: ${found.join('; ')}`)
    await delay(50)
  }
}

/** Resolves to the number of bytes that the customer's files come to. */
async function readAll(turn: Turn): Promise<number> {
  await list(turn, {})
  let bytes = 0
  for (const name of turn.names) bytes += (await readWhole(turn, name)) ?? 0
  return bytes
}

/** A name that no client uses. */
const probe = 'probe of the quota'

/** Whether the customer may upload what is left of the quota, and not a byte more. */
async function quotaProblems(
  turn: Turn,
  used: number,
  excused: Set<string>,
): Promise<readonly string[]> {
  const { name, quota } = turn.customer
  if (quota === undefined) return []
  const left = quota - used
  if (left < 0) return excused.has(name) ? [] : [`${name} keeps ${used} bytes of ${quota}`]
  excused.delete(name)
  const ask = async (method: string, path: string, body?: Buffer) => {
    const answer = await turn.ask({
      method,
      path: path + encodeURIComponent(probe),
      ...(body && { body }),
    })
    return replyOf(answer.status, messageOf(answer))
  }
  const beyond = await ask('PUT', '/upload/', Buffer.alloc(left + 1))
  const exactly = await ask('PUT', '/upload/', Buffer.alloc(left))
  const removed = await ask('DELETE', '/delete/')
  const told = `${name} has used ${used} of ${quota} bytes, and is told`
  return [
    ...(beyond === '413 Quota exceeded' ? [] : [`${told} "${beyond}" for one byte too many`]),
    ...(exactly === '200 OK' ? [] : [`${told} "${exactly}" for just the rest`]),
    ...(removed === '200 OK' ? [] : [`${told} "${removed}" for removing that`]),
  ]
}
