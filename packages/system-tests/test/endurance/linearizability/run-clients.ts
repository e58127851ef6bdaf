import { Agent } from 'node:http'
import { createChoices } from '../soak/choices.ts'
import type { FileState } from './file-operation.ts'
import { takeFileTurn } from './file-turn.ts'
import type { Operation } from './find-order.ts'
import { takePieceTurn } from './piece-turn.ts'
import { operationsOf, type UploadHistory } from './upload-history.ts'

export interface ClientRun {
  /** The servers, which keep the same files. */
  readonly urls: readonly [string, ...string[]]
  /** What each request carries. */
  readonly credentials: Readonly<Record<string, string>>
  readonly seed: number
  readonly clients: number
  /** In each round all clients use one file, which no round before has used. */
  readonly rounds: number
  /** Whether a server may change a file between the look and the removal of another one's deletion. Default: no. */
  readonly looksBeforeRemoval?: boolean
  /** Of each client in each round. */
  readonly operations: number
}

/** All that was done to one file, as its clients saw it. */
export interface FileHistory {
  readonly name: string
  readonly operations: readonly Operation<FileState>[]
  /** The uploads in pieces that were to become it. */
  readonly uploads: readonly UploadHistory[]
}

/** Runs clients at once, each on connections of its own, and yields what they saw, round by round. */
export async function* runClients(run: ClientRun): AsyncGenerator<FileHistory> {
  const agents = Array.from(
    { length: run.clients },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  )
  try {
    for (let round = 0; round < run.rounds; round++) {
      yield await runRound(run, agents, round)
    }
  } finally {
    agents.forEach((agent) => agent.destroy())
  }
}

async function runRound(
  run: ClientRun,
  agents: readonly Agent[],
  round: number,
): Promise<FileHistory> {
  const name = `file-${round}`
  const operations: Operation<FileState>[] = []
  const contents = new Map<string, Buffer>()
  const uploads: UploadHistory[] = []
  let moment = 0

  const work = agents.map(async (agent, client) => {
    const choices = createChoices(run.seed, `round ${round}, client ${client}`)
    for (let count = 0; count < run.operations; count++) {
      const take = choices.chance(30) ? takePieceTurn : takeFileTurn
      const seen = await take({
        ...{ url: choices.pick(run.urls), agent, credentials: run.credentials, choices },
        ...{ id: `${round}.${client}.${count}`, name, round, contents, uploads },
        looksBeforeRemoval: run.looksBeforeRemoval === true,
        now: () => ++moment,
      })
      operations.push(...seen)
    }
  })
  await Promise.all(work)
  return { name, uploads, operations: [...operations, ...uploads.flatMap(operationsOf)] }
}
