import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hashPassword } from '../../../packages/credentials-file/dist/index.js'
import { download } from '../load/download.ts'
import { inTurns } from '../load/in-turns.ts'
import { observe } from '../measure/observe.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import type { Figures } from '../measure/figures.ts'
import { credentials } from '../subjects/holdfast.ts'
import { layOut } from './files.ts'
import type { Lane, Scenario } from './scenario.ts'

export const login1000: Scenario = {
  name: 'login-1000',
  title: 'Logins of 1 000 customers',
  how:
    'Each asks for a list, which is empty, 32 at a time: the first time, when each password costs one scrypt (N = 2^15, ' +
    'r = 8), and the second time. Meanwhile a customer who has logged in before downloads 4 KiB twenty times a second, which is ' +
    'measured before as well; `ms` is the mean of these. `scrypt` is the hashing alone, as many at a time as the machine has processors.',
  compared: 'perSecond',
  rounds: 1,
  prepare: async (bench) => {
    const count = bench.isQuick ? 50 : 1000
    const names = Array.from({ length: count }, (_, at) => `customer-${at}`)
    const customers = join(bench.directory, 'many.yaml')
    const hashing = await hashAll(names)
    const lines = names.map(
      (name, at) => `  - name: ${name}\n    password: ${hashing.hashes[at]}\n`,
    )
    const { 'x-auth-name': name, 'x-auth-password': password } = credentials
    lines.push(`  - name: ${name}\n    password: ${await hashPassword(password)}\n`)
    await writeFile(customers, `customers:\n${lines.join('')}`, { mode: 0o600 })
    const options = { environment: { HOLDFAST_CUSTOMERS: customers } }
    const holdfasts = await bench.start(bench.holdfasts, options)
    await layOut(bench.directory, holdfasts, { pattern: 'small', count: 1, size: 4096 })
    return [
      { subject: 'scrypt', work: 'first login', measure: async () => hashing.figures },
      ...holdfasts.flatMap((one) => lanesOf(one, names)),
    ]
  },
}

/** The passwords of customers are their names. */
async function hashAll(names: readonly string[]) {
  const begin = performance.now()
  const hashes = await inTurns(names, 4, hashPassword)
  const seconds = (performance.now() - begin) / 1000
  return { hashes, figures: { seconds, perSecond: names.length / seconds } }
}

/** The first logins of a server come once: what is measured meanwhile is kept for a lane of its own. */
function lanesOf(one: RunningSubject, names: readonly string[]): Lane[] {
  const first = loginLane(one, 'first login', names)
  const downloads = (seconds: Promise<unknown>) => timeDownloads(one, seconds)
  let meanwhile: Figures = {}
  const measureFirst = async (round: number) => {
    if (round === 0) return {}
    const logins = first.measure(round)
    const [figures, others] = await Promise.all([logins, downloads(logins)])
    meanwhile = others
    return figures
  }
  const lane = (work: string, measure: Lane['measure']) => ({ subject: one.name, work, measure })
  return [
    lane('download', () => downloads(delay(2_000))),
    lane('first login', measureFirst),
    lane('download meanwhile', async () => meanwhile),
    loginLane(one, 'second login', names),
  ]
}

/** Downloads a small file now and then until `end`. */
async function timeDownloads(one: RunningSubject, end: Promise<unknown>): Promise<Figures> {
  const times: number[] = []
  let isOver = false
  const stop = () => void (isOver = true)
  void end.then(stop, stop)
  while (!isOver) {
    times.push((await download(one.port, one.get('small'))).seconds * 1000)
    await delay(50)
  }
  const sorted = times.sort((a, b) => a - b)
  return {
    ms: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
  }
}

function loginLane(one: RunningSubject, work: string, names: readonly string[]): Lane {
  return {
    subject: one.name,
    work,
    measure: async (round): Promise<Figures> => {
      // To warm up would be to log in.
      if (round === 0) return {}
      const begin = performance.now()
      const { result, usage } = await observe(one.pid, () =>
        inTurns(names, 32, async (name) => {
          const headers = { 'x-auth-name': name, 'x-auth-password': name }
          const { seconds } = await download(one.port, {
            method: 'GET',
            path: '/list?prefix=none',
            headers,
          })
          return seconds
        }),
      )
      const seconds = (performance.now() - begin) / 1000
      const sorted = [...result].sort((a, b) => a - b)
      return {
        seconds,
        perSecond: names.length / seconds,
        p99Ms: (sorted[Math.floor(sorted.length * 0.99)] ?? NaN) * 1000,
        cpuMicroseconds: (usage.cpuSeconds / names.length) * 1e6,
      }
    },
  }
}
