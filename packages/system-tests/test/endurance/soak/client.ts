import { Agent } from 'node:http'
import { ask } from './ask.ts'
import { uploadBatch } from './batches.ts'
import { createChoices, type Choices } from './choices.ts'
import { deleteBatch } from './delete-batches.ts'
import { deleteFile } from './deletes.ts'
import type { Fleet, Member } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import { listFiles } from './lists.ts'
import { readFile } from './reads.ts'
import type { Tally } from './tally.ts'
import type { SoakCustomer, Turn } from './turn.ts'
import { uploadFile } from './uploads.ts'

/** What all clients of a run have in common. */
export interface SoakWorld {
  readonly seed: number
  readonly names: Turn['names']
  readonly ledger: Ledger
  readonly tally: Tally
  readonly fleet: Fleet
}

const operations = { uploadFile, uploadBatch, readFile, deleteFile, deleteBatch, listFiles }
const weights = {
  uploadFile: 34,
  uploadBatch: 6,
  readFile: 38,
  deleteFile: 9,
  deleteBatch: 3,
  listFiles: 10,
}

/**
 * Does one operation after the other as a client of `customer`, until the run is over. What it does in which order follows
 * from the seed and its number.
 */
export async function runClient(
  world: SoakWorld,
  number: number,
  customer: SoakCustomer,
): Promise<void> {
  const choices = createChoices(world.seed, `client ${number}`)
  const turns = createTurns(world, customer, `client ${number}`, choices)
  try {
    for (let step = 1; ; step++) {
      const operation = operations[choices.weighted(weights)]
      const nth = choices.below(12)
      const done = await world.fleet.enter(async (members) => {
        await operation(turns.begin(members[nth % members.length], `${number}.${step}`))
        return true
      })
      if (!done) return
    }
  } finally {
    turns.end()
  }
}

/** Makes the turns of one client, which has connections of its own. */
export function createTurns(
  { names, ledger, tally }: SoakWorld,
  customer: SoakCustomer,
  who: string,
  choices: Choices,
): { begin(member: Member | undefined, sequence: string): Turn; end(): void } {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'x-auth-name': customer.name, 'x-auth-password': customer.password }
  return {
    begin(member, sequence) {
      if (member === undefined) throw new RangeError('There is no server to ask')
      const { number, server } = member
      return {
        ...{ sequence, customer, names, choices, ledger, tally, server: number },
        who: `${who}, turn ${sequence}, server ${number}`,
        isDoomed: () => member.isDoomed,
        ask: (question) =>
          ask(server.url, agent, { ...question, headers: { ...headers, ...question.headers } }),
      }
    },
    end: () => agent.destroy(),
  }
}
