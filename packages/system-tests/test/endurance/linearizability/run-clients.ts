import { Agent } from 'node:http'
import { createChoices } from '../soak/choices.ts'
import type { FileState } from './file-operation.ts'
import { readFile, takeFileTurn } from './file-turn.ts'
import { soundNetwork, type Network } from './network.ts'
import type { Operation } from './find-order.ts'
import { lookAtUploads, takePieceTurn } from './piece-turn.ts'
import type { Turn } from './turn.ts'
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
  /** Default: each request is delivered once. */
  readonly network?: Network
  /** Whether a request without a whole answer is a failure. Default: no, it may have happened. */
  readonly isAnswered?: boolean
  /** How many operations of a hundred are those on uploads in pieces. Default: 30. */
  readonly pieces?: number
  /** Gets, in each round, what reads the file at once, as one more client. */
  readonly onRound?: (read: () => Promise<void>) => void
  /** Is waited for in the middle of each round, while no client does anything. */
  readonly pause?: () => Promise<void>
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
  const etags = new Map<string, string>()
  const uploads: UploadHistory[] = []
  const { network = soundNetwork, pieces = 30, pause, onRound } = run
  let moment = 0

  const clientOf = (agent: Agent | false, client: string, { send }: Network) => {
    const choices = createChoices(run.seed, `round ${round}, client ${client}`)
    let count = 0
    return (): Turn => ({
      send: async (question) => {
        const delivery = await send(run.urls, agent, question, choices)
        const { isWhole, problem } = delivery.answer
        if (isWhole || run.isAnswered !== true) return delivery
        throw new Error(`No whole answer to ${question.method} ${question.path}: ${problem}`)
      },
      ...{ credentials: run.credentials, choices },
      ...{ id: `${round}.${client}.${count++}`, name, round, contents, etags, uploads },
      looksBeforeRemoval: run.looksBeforeRemoval === true,
      now: () => ++moment,
    })
  }
  const clients = agents.map((agent, index) => clientOf(agent, `${index}`, network))
  const reader = clientOf(false, 'reader', soundNetwork)
  const read = async () => void operations.push(...(await readFile(reader())))
  onRound?.(read)
  const work = async (from: number, to: number) => {
    const working = clients.map(async (turnOf) => {
      for (let count = from; count < to; count++) {
        const turn = turnOf()
        const take = turn.choices.chance(pieces) ? takePieceTurn : takeFileTurn
        operations.push(...(await take(turn)))
      }
    })
    await Promise.all(working)
  }
  const middle = pause ? Math.ceil(run.operations / 2) : run.operations
  await work(0, middle)
  await pause?.()
  await work(middle, run.operations)
  await network.settled()
  await read()
  await lookAtUploads(reader())
  await read()
  return { name, uploads, operations: [...operations, ...uploads.flatMap(operationsOf)] }
}
