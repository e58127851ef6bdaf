import { setTimeout as delay } from 'node:timers/promises'
import type { HoldfastOptions, HoldfastServer } from '@holdfast/testing'
import { createChoices } from '../soak/choices.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** How far from the true time a clock is set, in milliseconds: less than an upload in pieces needs to expire. */
const offsets = [-5 * hour, -second, 2 * minute, 20 * minute, 5 * hour] as const

/** How often a clock jumps at the most. */
const mostJumps = 500

/** What a server is started with whose clock can jump. */
export function jumpingClock(seed: number, purpose: string): Pick<HoldfastOptions, 'env'> {
  const choices = createChoices(seed, `clock ${purpose}`)
  const jumps = Array.from({ length: mostJumps }, () => choices.pick(offsets))
  const module = new URL('children/jumping-clock.ts', import.meta.url).href
  return { env: { NODE_OPTIONS: `--import ${module}`, CLOCK_OFFSETS: jumps.join(' ') } }
}

/** Lets the clocks of servers jump, again and again, until it is disposed of. */
export function letClocksJump(
  servers: readonly Pick<HoldfastServer, 'signal'>[],
  seed: number,
): { readonly count: () => number } & Disposable {
  const choices = createChoices(seed, 'moments of jumps')
  const end = new AbortController()
  let count = 0
  const work = async ({ signal }: Pick<HoldfastServer, 'signal'>) => {
    for (;;) {
      await delay(choices.between(10, 150), undefined, { signal: end.signal })
      signal('SIGUSR2')
      count++
    }
  }
  for (const server of servers) void work(server).catch(() => {})
  return { count: () => count, [Symbol.dispose]: () => end.abort() }
}
