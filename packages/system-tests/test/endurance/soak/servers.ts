import type { Fleet, Member } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import type { SoakSite } from './soak-site.ts'
import { SoakViolation } from './violation.ts'

/** How a server is ended: by SIGKILL, or by SIGTERM. */
export type Ending = 'kill' | 'stop'

/** The servers of a run, one after the other or two at a time. */
export interface Servers {
  start(): Promise<Member>
  /**
   * Ends a server amid the clients' work, and opens the gate to `rest` at once, where there is one. Resolves when it is
   * gone and no client is doing anything: the gate is closed.
   * @throws SoakViolation when SIGTERM does not end it well
   */
  end(member: Member, how: Ending, rest?: Member): Promise<void>
  /** Kills all, also one that is just starting; `start` rejects from then on. */
  close(): Promise<void>
  /** Rejects when a server has ended by itself. */
  readonly failed: Promise<never>
}

export function createServers(site: SoakSite, fleet: Fleet, ledger: Ledger): Servers {
  const members = new Set<Member>()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  let started = 0
  let isClosed = false
  const isOver = () => isClosed

  const watch = async (member: Member) => {
    const reason = await member.server.ended
    members.delete(member)
    if (member.isDoomed) return
    reject(new SoakViolation(`Server ${member.number} ended by itself: ${String(reason)}`))
  }

  const kill = async (member: Member) => {
    member.isDoomed = true
    await member.server.kill()
  }

  return {
    async start() {
      if (isOver()) throw new Error('The run is over')
      const member = { number: ++started, server: await site.start(), isDoomed: false }
      members.add(member)
      void watch(member)
      ledger.note(`server ${member.number} listens`)
      if (isOver()) await kill(member)
      return member
    },

    async end(member, how, rest) {
      const { number, server } = member
      member.isDoomed = true
      ledger.note(`server ${number}: ${how}`)
      if (rest) fleet.open([rest])
      const allLeft = rest ? undefined : fleet.close()
      const code = how === 'kill' ? await server.kill() : await server.stop()
      await allLeft
      await fleet.close()
      // Only now: a client that has just lost its connection says so before it leaves.
      ledger.serverIsGone(number)
      ledger.note(`server ${number} is gone`)
      if (how === 'stop' && code !== 0) {
        throw new SoakViolation(`Server ${number}: SIGTERM, and it ended by ${String(code)}`)
      }
    },

    async close() {
      isClosed = true
      await Promise.all([...members].map(kill))
    },

    failed,
  }
}
