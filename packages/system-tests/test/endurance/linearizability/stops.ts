import { setTimeout as delay } from 'node:timers/promises'
import type { HoldfastOptions, HoldfastServer } from '@holdfast/testing'
import { createChoices } from '../soak/choices.ts'

/** Up to which of its steps a server stops, and at how many of a hundred. */
const steps = 10_000
const percent = 4

/** What a server is started with that stops by itself, again and again, right after a change of its directory. */
export function stoppingAtSteps(seed: number): Pick<HoldfastOptions, 'env'> {
  const choices = createChoices(seed, 'steps')
  const stops = Array.from({ length: steps }, (_, step) => step).filter(() =>
    choices.chance(percent),
  )
  const module = new URL('children/stop-at-steps.ts', import.meta.url).href
  return { env: { NODE_OPTIONS: `--import ${module}`, STOP_AT: stops.join(' ') } }
}

/** Continues a server some time after each of its stops. */
export interface Continuation extends AsyncDisposable {
  /** How often the server has stopped. */
  readonly count: () => number
}

/** Stops are shorter than the ten seconds for which other servers wait for an upload. */
export function continueAfterStops(server: HoldfastServer, seed: number): Continuation {
  const choices = createChoices(seed, 'lengths of stops')
  let count = 0
  let isOver = false
  const stops = () => server.output().match(/^stopped: /gm)?.length ?? 0
  const work = async () => {
    while (!isOver || stops() > count) {
      await delay(20)
      if (stops() === count) continue
      await delay(choices.chance(15) ? choices.between(300, 1500) : choices.between(20, 200))
      server.signal('SIGCONT')
      count++
    }
  }
  const working = work()
  return {
    count: () => count,
    async [Symbol.asyncDispose]() {
      isOver = true
      await working
    },
  }
}
