import { Agent } from 'node:http'
import { ask, messageOf, type Answer, type Question } from '../soak/ask.ts'
import { createChoices } from '../soak/choices.ts'
import { fileOperation, type FileOperation, type FileState } from './file-operation.ts'
import type { Operation } from './find-order.ts'

export interface ClientRun {
  /** The servers, which keep the same files. */
  readonly urls: readonly [string, ...string[]]
  /** What each request carries. */
  readonly credentials: Readonly<Record<string, string>>
  readonly seed: number
  readonly clients: number
  /** In each round all clients use one file, which no round before has used. */
  readonly rounds: number
  /** Of each client in each round. */
  readonly operations: number
}

/** All that was done to one file, as its clients saw it. */
export interface FileHistory {
  readonly name: string
  readonly operations: readonly Operation<FileState>[]
}

type Kind = 'upload' | 'create' | 'read' | 'delete' | 'list'

/** Uploads have one of these sizes, in bytes: what servers take in one go, and what they do not. */
const sizes = [40, 100_000] as const

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
  let moment = 0

  const work = agents.map(async (agent, client) => {
    const choices = createChoices(run.seed, `round ${round}, client ${client}`)
    for (let count = 0; count < run.operations; count++) {
      const kind = choices.weighted({ upload: 25, create: 20, read: 25, delete: 20, list: 10 })
      const content = `${round}.${client}.${count}`
      const bytes = Buffer.alloc(choices.pick(sizes), ' ')
      bytes.write(content)
      if (kind === 'upload' || kind === 'create') contents.set(content, bytes)
      const begin = ++moment
      const answer = await ask(
        choices.pick(run.urls),
        agent,
        questionOf(kind, name, bytes, run.credentials),
      )
      const operation = judge(kind, name, content, contents, answer)
      const end = operation === 'unknown' ? Infinity : ++moment
      if (operation !== 'unknown') operations.push({ ...operation, begin, end })
      else if (kind !== 'read' && kind !== 'list') {
        operations.push({ ...unanswered(kind, content), begin, end })
      }
    }
  })
  await Promise.all(work)
  return { name, operations }
}

function questionOf(
  kind: Kind,
  name: string,
  body: Buffer,
  credentials: ClientRun['credentials'],
): Question {
  switch (kind) {
    case 'upload':
      return { method: 'PUT', path: `/upload/${name}`, headers: credentials, body }
    case 'create': {
      const headers = { ...credentials, 'if-none-match': '*' }
      return { method: 'PUT', path: `/upload/${name}`, headers, body }
    }
    case 'read':
      return { method: 'GET', path: `/serve/${name}`, headers: credentials }
    case 'delete':
      return { method: 'DELETE', path: `/delete/${name}`, headers: credentials }
    case 'list':
      return { method: 'GET', path: `/list?prefix=${name}`, headers: credentials }
  }
}

function unanswered(kind: 'upload' | 'create' | 'delete', content: string): FileOperation {
  const operation = kind === 'delete' ? fileOperation.remove : fileOperation[kind](content)
  return { ...operation, what: `unanswered ${operation.what}`, explains: () => true }
}

/** @throws Error for an answer that must not come */
function judge(
  kind: Kind,
  name: string,
  content: string,
  contents: ReadonlyMap<string, Buffer>,
  answer: Answer,
): FileOperation | 'unknown' {
  const { status, isWhole, body } = answer
  if (!isWhole || status === 503) return 'unknown'
  const reply = `${status} ${status === 200 ? '' : messageOf(answer)}`.trim()
  const isMissing = reply === '400 File not found'
  if (kind === 'upload' && status === 200) return fileOperation.upload(content)
  if (kind === 'create' && status === 200) return fileOperation.create(content)
  if (kind === 'create' && status === 412) return fileOperation.refused(content)
  if (kind === 'read' && status === 200) return fileOperation.read(knownContent(body, contents))
  if (kind === 'delete' && status === 200) return fileOperation.remove
  if (kind === 'list' && status === 200) {
    const names = JSON.parse(body.toString()) as readonly string[]
    return names.includes(name) ? fileOperation.listed : fileOperation.missing
  }
  if ((kind === 'read' || kind === 'delete') && isMissing) return fileOperation.missing
  throw new Error(`An answer that must not come to ${kind} of ${name}: ${reply}`)
}

function knownContent(body: Buffer, contents: ReadonlyMap<string, Buffer>): string {
  const content = body.toString().trimEnd()
  if (contents.get(content)?.equals(body) === true) return content
  throw new Error(`A download of ${body.length} bytes that were not uploaded so`)
}
