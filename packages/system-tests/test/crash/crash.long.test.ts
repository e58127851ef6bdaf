// It kills a server at every step.
import { expect } from 'chai'
import { httpCrashPoints } from '@holdfast/http-koa'
import { diskCrashPoints, diskUploadCrashPoints } from '@holdfast/store-disk'
import { pieceScenarios } from './piece-scenarios.ts'
import { crash, rehearse } from './run-scenario.ts'
import type { Scenario, CrashPoint } from './scenario.ts'
import { scenarios } from './scenarios.ts'

/** How many servers die at a time. */
const concurrency = 3

/** Whether servers die in each scenario at each of its steps, also where another scenario has the same. */
const isThorough = process.env['HOLDFAST_CRASH_EVERYWHERE'] !== undefined

/** Runs `tasks` a few at a time, in their order; the function returned waits for one, and begins those that are next. */
function readAhead(tasks: readonly (() => Promise<void>)[]): (index: number) => Promise<void> {
  const begun = new Map<number, Promise<void>>()
  const begin = (index: number) => {
    const task = begun.get(index) ?? tasks[index]?.() ?? Promise.resolve()
    // Whoever waits for it later learns of its failure.
    task.catch(() => {})
    begun.set(index, task)
    return task
  }
  return (index) => {
    for (let next = index + 1; next < index + concurrency; next++) void begin(next)
    return begin(index)
  }
}

/** Whether a server is killed in the scenario at the step: where no other scenario has the same step in the same state of files. */
const isKilledAt = ({ kills }: Scenario, step: CrashPoint) =>
  isThorough || kills === undefined || kills.includes(step)

describe('holdfast serve, killed with SIGKILL', function () {
  this.timeout(600_000)
  const tasks: (() => Promise<void>)[] = []
  const run = readAhead(tasks)
  const killed: { readonly scenario: string; readonly step: string }[] = []
  const declare = (title: string, task: () => Promise<void>) => {
    const index = tasks.push(task) - 1
    it(title, () => run(index))
  }
  const kill = async (scenario: Scenario, steps: readonly CrashPoint[]) => {
    await crash(scenario, steps)
    killed.push({ scenario: scenario.title, step: steps.at(-1) ?? '' })
  }

  for (const scenario of scenarios) {
    const { title, steps } = scenario
    describe(`in ${title}`, () => {
      declare('goes through its steps as long as it lives', async () => {
        await rehearse(scenario)
      })
      steps.forEach((step, index) => {
        if (!isKilledAt(scenario, step)) return
        declare(`${index + 1}: leaves it as it was or as it is to be, after ${step}`, () =>
          kill(scenario, steps.slice(0, index + 1)),
        )
      })
    })
  }

  describe('in uploads in pieces', () => {
    for (const scenario of pieceScenarios) {
      declare(`keeps what it acknowledged, at each step of ${scenario.title}`, async () => {
        const steps = await rehearse(scenario)
        for (const [index, step] of steps.entries()) {
          if (!isKilledAt(scenario, step)) continue
          const until = steps.slice(0, index + 1)
          await kill(scenario, until).catch((cause: unknown) => {
            throw new Error(`After ${until.join(', ')}: ${String(cause)}`, { cause })
          })
        }
      })
    }
  })

  // Mocha runs the tests of a suite before those of suites in it.
  describe('in all of them', () => {
    it('has died at every step that the store and the routes publish', () => {
      const known = new Set<string>(killed.map(({ step }) => step))
      const all = [...diskCrashPoints, ...diskUploadCrashPoints, ...httpCrashPoints]
      expect(all.filter((step) => !known.has(step))).to.deep.equal([])
    })
  })

  after(() => {
    const steps = new Set(killed.map(({ step }) => step)).size
    const inScenarios = new Set(killed.map(({ scenario }) => scenario)).size
    const figures = `${killed.length} kills at ${steps} different steps of ${inScenarios} scenarios`
    console.log(`figures: crash matrix: ${figures}`)
  })
})
