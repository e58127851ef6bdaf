import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '../../../packages/credentials-file/dist/index.js'
import { download } from '../load/download.ts'
import { inTurns } from '../load/in-turns.ts'
import { observe } from '../measure/observe.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import type { Figures } from '../measure/figures.ts'
import type { Lane, Scenario } from './scenario.ts'

export const login1000: Scenario = {
  name: 'login-1000',
  title: 'Logins of 1 000 customers',
  how:
    'Each asks for a list, which is empty, 32 at a time: the first time, when each password costs one scrypt (N = 2^15, ' +
    'r = 8), and the second time. `scrypt` is the hashing alone, as many at a time as the machine has processors.',
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
    await writeFile(customers, `customers:\n${lines.join('')}`, { mode: 0o600 })
    const options = { environment: { HOLDFAST_CUSTOMERS: customers } }
    const holdfasts = await bench.start(bench.holdfasts, options)
    return [
      { subject: 'scrypt', work: 'first login', measure: async () => hashing.figures },
      ...holdfasts.flatMap((one) => [
        loginLane(one, 'first login', names),
        loginLane(one, 'second login', names),
      ]),
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
