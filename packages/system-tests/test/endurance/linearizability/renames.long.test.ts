import { Agent } from 'node:http'
import { describeWithMinio } from '@holdfast/testing/minio'
import { credentials, useHoldfast } from '@holdfast/testing'
import { expect, AssertionError } from 'chai'
import { ask, messageOf, type Answer, type Question } from '../soak/ask.ts'
import { createChoices, type Choices } from '../soak/choices.ts'
import { withSeed } from '../with-seed.ts'
import { findOrder, type Operation } from './find-order.ts'

/**
 * What two names hold, and what renames under way have linked or copied, by their ids. A content is the id of its upload; a copy in a bucket
 * is another object, whose id follows after a `#`.
 */
interface TwoFiles {
  readonly contents: Readonly<Record<string, string | undefined>>
  readonly linked: Readonly<Record<string, string | undefined>>
}

type Change = Omit<Operation<TwoFiles>, 'begin' | 'end' | 'after'>

const weights = {
  upload: 15,
  create: 10,
  read: 25,
  delete: 10,
  move: 20,
  moveCreateOnly: 20,
} as const

type Kind = keyof typeof weights

interface Asked {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  readonly to: string
}

const holds = (files: TwoFiles, name: string) => files.contents[name] !== undefined

/** The content of an object in a bucket, without which copy of it that is. */
const contentOf = (object: string | undefined) => object?.split('#')[0]

/** Whoever has renamed an object away, and finds a copy of it there that others have renamed back, leaves it. */
const copyOf = (object: string | undefined, rename: string) =>
  object === undefined ? undefined : `${contentOf(object)}#${rename}`

const withContent = (files: TwoFiles, name: string, content: string | undefined): TwoFiles => ({
  ...files,
  contents: { ...files.contents, [name]: content },
})

/** The steps that explain an answer, one after the other. */
function stepsOf(
  { kind, id, name, to }: Asked,
  answer: Answer,
  isInBucket: boolean,
): readonly Change[] {
  const reply =
    answer.status === 200 ? answer.body.toString() : `${answer.status} ${messageOf(answer)}`
  const what = `${kind} ${id} of ${name}${kind.startsWith('move') ? ` to ${to}` : ''}: ${reply}`
  const step = (explains: Change['explains'], effect: Change['effect'] = (files) => files) => {
    return { what, explains, effect }
  }
  const set = (content: string | undefined) => (files: TwoFiles) =>
    withContent(files, name, content)
  const isFree = (one: string) => (files: TwoFiles) => !holds(files, one)
  const isTaken = (one: string) => (files: TwoFiles) => holds(files, one)
  if (reply === '400 File not found') return [step(isFree(name))]
  if (answer.status === 412) return [step(isTaken(kind === 'create' ? name : to))]
  if (answer.status !== 200) throw new Error(`An answer that must not come: ${what}`)
  const moved = (files: TwoFiles) =>
    withContent(withContent(files, to, files.contents[name]), name, undefined)
  const noted = (files: TwoFiles, content: string | undefined) => ({
    ...files,
    linked: { ...files.linked, [id]: content },
  })
  const look = step(isTaken(name), (files) => noted(files, files.contents[name]))
  const giveName = (mayTake: Change['explains']) =>
    step(mayTake, (files) =>
      withContent(files, to, isInBucket ? copyOf(files.linked[id], id) : files.linked[id]),
    )
  /** What others have stored under the earlier name meanwhile stays; what they delete there keeps the new name. */
  const leave = step(
    () => true,
    (files) => {
      const isSame = files.contents[name] === files.linked[id]
      return noted(isSame ? withContent(files, name, undefined) : files, undefined)
    },
  )
  /** A copy takes the content that the file has at its begin. For a moment both names lead to it. */
  const copied = (mayTake: Change['explains']) => [look, giveName(mayTake), leave]
  switch (kind) {
    case 'upload':
      return [step(() => true, set(id))]
    case 'create':
      return [step(isFree(name), set(id))]
    case 'read':
      return [step((files) => contentOf(files.contents[name]) === answer.body.toString())]
    case 'delete':
      // In a bucket, the look of a deletion and its removal are two steps: decision 021.
      return isInBucket
        ? [step(isTaken(name)), step(() => true, set(undefined))]
        : [step(isTaken(name), set(undefined))]
    case 'move':
      return isInBucket ? copied(() => true) : [step(isTaken(name), moved)]
    case 'moveCreateOnly':
      if (isInBucket) return copied(isFree(to))
      return [
        step(
          (files) => look.explains(files) && isFree(to)(files),
          (files) => giveName(isFree(to)).effect(look.effect(files)),
        ),
        leave,
      ]
  }
}

function questionOf({ kind, id, name, to }: Asked): Question {
  const headers = credentials
  switch (kind) {
    case 'upload':
      return { method: 'PUT', path: `/upload/${name}`, headers, body: Buffer.from(id) }
    case 'create': {
      const createOnly = { ...headers, 'if-none-match': '*' }
      return { method: 'PUT', path: `/upload/${name}`, headers: createOnly, body: Buffer.from(id) }
    }
    case 'read':
      return { method: 'GET', path: `/serve/${name}`, headers }
    case 'delete':
      return { method: 'DELETE', path: `/delete/${name}`, headers }
    case 'move':
    case 'moveCreateOnly': {
      const body = Buffer.from(JSON.stringify({ to, createOnly: kind === 'moveCreateOnly' }))
      const json = { ...headers, 'content-type': 'application/json' }
      return { method: 'POST', path: `/rename/${name}`, headers: json, body }
    }
  }
}

interface Rounds {
  readonly urls: readonly [string, ...string[]]
  readonly rounds: number
  /** Whether a rename is a copy and a removal. Default: no. */
  readonly isInBucket?: boolean
}

/** Has five clients change two files in each round; passes when an order explains all their answers. */
async function expectOrder(
  { urls, rounds, isInBucket = false }: Rounds,
  seed: number,
): Promise<void> {
  const agents = Array.from({ length: 5 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  let moves = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const names = [`a-${round}`, `b-${round}`] as const
      const operations: Operation<TwoFiles>[] = []
      let moment = 0
      const act = async (asked: Asked, url: string, agent: Agent) => {
        const begin = ++moment
        const answer = await ask(url, agent, questionOf(asked))
        const end = ++moment
        let after: Operation<TwoFiles> | undefined
        for (const step of stepsOf(asked, answer, isInBucket)) {
          const operation = { ...step, begin, end, ...(after && { after }) }
          operations.push(operation)
          after = operation
        }
        if (asked.kind.startsWith('move') && answer.status === 200) moves++
      }
      const work = async (agent: Agent, client: number) => {
        const choices: Choices = createChoices(seed, `renames ${round}, client ${client}`)
        for (let count = 0; count < 8; count++) {
          const name = choices.pick(names)
          const to = name === names[0] ? names[1] : names[0]
          const kind = choices.weighted(weights)
          await act({ kind, id: `${client}.${count}`, name, to }, choices.pick(urls), agent)
        }
      }
      await Promise.all(agents.map(work))
      const [agent] = agents
      for (const name of names) {
        for (const url of urls)
          if (agent) await act({ kind: 'read', id: 'end', name, to: name }, url, agent)
      }
      expectExplained(operations)
    }
    expect(moves, 'renames').to.be.above(rounds)
  } finally {
    for (const agent of agents) agent.destroy()
  }
}

function expectExplained(operations: readonly Operation<TwoFiles>[]): void {
  const labelOf = (files: TwoFiles) => JSON.stringify(files)
  if (findOrder(operations, { contents: {}, linked: {} }, labelOf)) return
  const lines = [...operations]
    .sort((a, b) => a.begin - b.begin)
    .map(({ begin, end, what }) => `${begin} to ${end}`.padEnd(14) + what)
  throw new AssertionError(['No order explains these answers:', ...lines].join('\n  '))
}

describe('Files that many clients rename at once are linearizable', function () {
  this.timeout(5 * 60_000)
  const holdfast = useHoldfast()

  it('on disk', async () => {
    const { url } = await holdfast.start()
    await withSeed((seed) => expectOrder({ urls: [url], rounds: 60 }, seed))
  })

  it('on disk with --keep-replaced, with workers and two servers', async () => {
    const args = ['--keep-replaced', '30d', '--workers', '2']
    const servers = [await holdfast.start(args), await holdfast.start(args)] as const
    const urls = [servers[0].url, servers[1].url] as const
    await withSeed((seed) => expectOrder({ urls, rounds: 60 }, seed))
  })

  it('on disk with --workers', async () => {
    const { url } = await holdfast.start(['--workers', '2'])
    await withSeed((seed) => expectOrder({ urls: [url], rounds: 60 }, seed))
  })

  it('on one directory with two servers', async () => {
    const servers = [await holdfast.start(), await holdfast.start()] as const
    const urls = [servers[0].url, servers[1].url] as const
    await withSeed((seed) => expectOrder({ urls, rounds: 60 }, seed))
  })

  describeWithMinio('on MinIO', (minio) => {
    // Servers without workers in common do not hold names for each other: decision 021.
    for (const workers of ['1', '2']) {
      it(`with --workers ${workers}`, async () => {
        const { endpoint, accessKey, secretKey } = minio()
        const bucket = await minio().createBucket()
        const place = ['--minio-endpoint', endpoint, '--minio-bucket', bucket]
        const args = ['--store', 'minio', ...place, '--workers', workers]
        const env = { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
        const { url } = await holdfast.start(args, { env })
        await withSeed((seed) => expectOrder({ urls: [url], rounds: 15, isInBucket: true }, seed))
      })
    }
  })
})
