import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureLanes, type Row } from './measure/measure-lanes.ts'
import type { Bench, Scenario } from './scenarios/scenario.ts'
import type { Measurable, Subject } from './subjects/subject.ts'

export interface MeasureOptions {
  readonly holdfasts: readonly Subject[]
  readonly rounds: number
  readonly isQuick: boolean
  /** Whether a subject is to take part. */
  isWanted(subject: string): boolean
  /** Ends the scenario before its time: what runs is stopped, what was written removed, and its reason thrown. */
  readonly interrupted: AbortSignal
  /** Called with what is being done. */
  tell(line: string): void
}

/** What a scenario has brought. */
export interface Measured {
  readonly rounds: number
  readonly rows: readonly Row[]
  /** Versions of the subjects that took part, and why others did not. */
  readonly versions: Readonly<Record<string, string>>
  readonly missing: Readonly<Record<string, string>>
}

/** Runs a scenario; stops and removes all that it has made, whatever becomes of it. */
export async function measureScenario(
  scenario: Scenario,
  options: MeasureOptions,
): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const versions: Record<string, string> = {}
  const missing: Record<string, string> = {}
  const ends = [() => rm(directory, { recursive: true, force: true })]
  const available = async <One extends Measurable>(subjects: readonly One[]) => {
    const found: One[] = []
    for (const subject of subjects.filter(({ name }) => options.isWanted(name))) {
      const answer = await subject.lookUp()
      if ('version' in answer) {
        versions[subject.name] = answer.version
        found.push(subject)
      } else missing[subject.name] = answer.missing
    }
    return found
  }
  const bench: Bench = {
    directory,
    isQuick: options.isQuick,
    seconds: 1,
    interrupted: options.interrupted,
    holdfasts: options.holdfasts,
    available,
    miss: (what, reason) => void (missing[what] = reason),
    start: async (subjects, startOptions) => {
      const running = []
      for (const subject of await available(subjects)) {
        const home = join(directory, `${subject.name}-${ends.length}`)
        await mkdir(home)
        const one = await subject.start(home, startOptions)
        ends.unshift(() => one.stop())
        running.push(one)
      }
      return running
    },
  }
  const measure = async () => {
    options.tell(`${scenario.name}: preparing`)
    const lanes = await scenario.prepare(bench)
    const rounds = Math.min(options.rounds, scenario.rounds ?? Infinity)
    const rows = await measureLanes(lanes, rounds, (line) =>
      options.tell(`${scenario.name}: ${line}`),
    )
    return { rounds, rows, versions, missing }
  }
  try {
    return await Promise.race([measure(), rejectionBy(options.interrupted)])
  } finally {
    for (const end of ends) await end()
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason as Error))
  if (signal.aborted) reject(signal.reason as Error)
  return promise
}
