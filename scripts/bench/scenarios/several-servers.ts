import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Figures } from '../measure/figures.ts'
import { cpuSecondsOf } from '../measure/process-figures.ts'
import { sendRequests, type Answers } from '../load/send-requests.ts'
import { customersFile } from '../subjects/holdfast.ts'
import { rationed } from '../subjects/rationed.ts'
import { redis } from '../subjects/redis.ts'
import type { BenchRequest, RunningSubject, Subject } from '../subjects/subject.ts'
import type { Bench, Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

/** Servers with the same files, and the engine in which they count together. */
interface Group {
  readonly name: string
  readonly servers: readonly RunningSubject[]
  readonly engine: RunningSubject | undefined
}

/** Divisible by three, so that each of three servers has as many. */
const loads = [
  { work: 'PUT', connections: 30 },
  { work: 'PUT, 3 at once', connections: 3 },
] as const

/** So small that three servers, Redis and the load generator do not need two processors. */
const share = 0.2

export const severalServers: Scenario = {
  name: 'several-servers',
  title: 'Servers that count as one',
  how:
    'PUT of 4 KiB, each under a new name, of a customer with a quota: to one server alone, to one that counts in Redis, and ' +
    'evenly to three on one directory, of one process each, without and with Redis. On 30 connections, and on 3, which leaves the ' +
    'processors idle at times; and to servers with a fifth of a processor each. Every request counts for the processor time of all ' +
    'servers; that of Redis is apart.',
  compared: 'cpuMicroseconds',
  prepare: async (bench) => {
    const groups: Group[] = []
    for (const subject of bench.holdfasts) {
      const { name } = subject
      groups.push(
        await startGroup(bench, subject, { name, count: 1 }),
        await startGroup(bench, subject, { name: `${name} + Redis`, count: 1, counts: true }),
        await startGroup(bench, subject, { name: `3 × ${name}`, count: 3 }),
        await startGroup(bench, subject, { name: `3 × ${name} + Redis`, count: 3, counts: true }),
        ...(await startRationed(bench, rationed(subject, share))),
      )
    }
    const content = randomBytes(4096)
    return groups
      .filter(({ servers }) => servers.length > 0)
      .flatMap((group) =>
        loads.map((load) => groupLane(group, { ...load, content }, bench.seconds)),
      )
  },
}

async function startRationed(bench: Bench, subject: Subject): Promise<readonly Group[]> {
  const name = `${subject.name}, rationed`
  try {
    return [
      await startGroup(bench, subject, { name, count: 1 }),
      await startGroup(bench, subject, {
        name: `3 × ${subject.name} + Redis, rationed`,
        count: 3,
        counts: true,
      }),
    ]
  } catch (error) {
    bench.miss('servers with rations', (error as Error).message)
    return []
  }
}

interface GroupOptions {
  readonly name: string
  /** How many servers. */
  readonly count: number
  /** Whether they count together in an engine. Default: each counts for itself. */
  readonly counts?: boolean
}

async function startGroup(
  bench: Bench,
  subject: Subject,
  { name, count, counts = false }: GroupOptions,
): Promise<Group> {
  const [engine] = counts ? await bench.start([redis]) : []
  if (counts && engine === undefined) return { name, servers: [], engine }
  const environment = {
    HOLDFAST_CUSTOMERS: await withQuota(bench.directory),
    HOLDFAST_DATA: join(bench.directory, `data-${name.replaceAll(/\W+/g, '-')}`),
    ...(engine && { HOLDFAST_SHARED_URL: `redis://127.0.0.1:${engine.port}` }),
  }
  const servers: RunningSubject[] = []
  for (let nth = 0; nth < count; nth++) {
    servers.push(...(await bench.start([subject], { environment })))
  }
  return { name, servers, engine }
}

/** The one customer, with a quota that no run reaches. */
async function withQuota(directory: string): Promise<string> {
  const path = await customersFile(directory)
  await writeFile(path, `${await readFile(path, 'utf8')}    quota: 100GB\n`)
  return path
}

interface GroupLoad {
  readonly work: string
  readonly connections: number
  readonly content: Buffer
}

function groupLane(
  { name, servers, engine }: Group,
  { work, connections, content }: GroupLoad,
  seconds: number,
): Lane {
  const measure = async (round: number): Promise<Figures> => {
    const before = await cpuOf(servers, engine)
    const answers = await Promise.all(
      servers.map((server, nth) => {
        const request = putOf(server, `${work.length}-${round}-${nth}-{n}`, content)
        const share = { connections: connections / servers.length, count: 1_000_000 }
        return sendRequests({ port: server.port, request, seconds, ...share })
      }),
    )
    const after = await cpuOf(servers, engine)
    const requests = answers.reduce((all, one) => all + one.requests, 0)
    return {
      perSecond: requests / Math.max(...answers.map((one) => one.seconds)),
      ms: worst(answers, 'medianMs'),
      p99Ms: worst(answers, 'p99Ms'),
      cpuMicroseconds: ((after.servers - before.servers) / requests) * 1e6,
      ...(engine && { engineMicroseconds: ((after.engine - before.engine) / requests) * 1e6 }),
    }
  }
  return settled({ subject: name, work, measure })
}

/** Of several servers, that of the slowest. */
function worst(answers: readonly Answers[], figure: 'medianMs' | 'p99Ms'): number {
  return Math.max(...answers.map((one) => one[figure]))
}

function putOf(server: RunningSubject, name: string, body: Buffer): BenchRequest {
  if (server.put === undefined) throw new TypeError(`${server.name} takes no PUT`)
  return { ...server.put(name), body }
}

async function cpuOf(servers: readonly RunningSubject[], engine: RunningSubject | undefined) {
  const all = await Promise.all(servers.map(({ pid }) => cpuSecondsOf(pid)))
  return {
    servers: all.reduce((sum, one) => sum + one, 0),
    engine: engine === undefined ? 0 : await cpuSecondsOf(engine.pid),
  }
}
