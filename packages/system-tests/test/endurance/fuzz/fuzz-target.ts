import fc from 'fast-check'
import { escaped } from './escaped.ts'
import { watchProcess } from './watch-process.ts'

/** What inputs are tried on. */
export interface Subject<Input> {
  /** Throws when the input was not dealt with as it must be. */
  check(input: Input): void | Promise<void>
  /** Throws when all the inputs together have left something behind. */
  close?(): Promise<void>
}

/** One run of a target. */
export interface FuzzRun {
  /** All inputs follow from it, a whole number. */
  readonly seed: number
  readonly runs: number
  /** Where an earlier finding is to be found again: only this input is tried. */
  readonly path?: string | undefined
  /** Told of each input before it is tried. */
  readonly onInput?: () => void
}

/** An input that was not dealt with as it must be. */
export interface Finding {
  readonly target: string
  readonly seed: number
  /** Leads to the input, together with the seed; `undefined` where no single input is to blame. */
  readonly path: string | undefined
  /** The input, as small as it could be made: text that can be pasted into a test. */
  readonly input: string
  readonly message: string
}

/** Something that is fed with inputs at random, and how it can be told that it did wrong. */
export interface FuzzTarget {
  readonly name: string
  /** How many of a run's inputs are for it, in proportion to the others' shares. */
  readonly share: number
  /** Resolves with the first input that finds something, made smaller; `undefined` when none does. */
  fuzz(run: FuzzRun): Promise<Finding | undefined>
}

interface TargetDefinition<Input> {
  readonly name: string
  readonly share: number
  readonly inputs: fc.Arbitrary<Input>
  readonly open: () => Subject<Input> | Promise<Subject<Input>>
}

/** Milliseconds for which a finding is made smaller; an input that hangs takes long to be tried. */
const shrinkingMs = 30_000

/** Counts as wrong what a subject throws, and what the process throws with nobody to catch it. */
export function createTarget<Input>(definition: TargetDefinition<Input>): FuzzTarget {
  const { name, share } = definition
  const fuzz = async (run: FuzzRun): Promise<Finding | undefined> => {
    const subject = await definition.open()
    const finding = await firstFinding(definition, subject, run)
    try {
      await subject.close?.()
    } catch (error) {
      const input = 'all of them together'
      return (
        finding ?? { target: name, seed: run.seed, path: undefined, input, message: text(error) }
      )
    }
    return finding
  }
  return { name, share, fuzz }
}

async function firstFinding<Input>(
  { name, inputs }: TargetDefinition<Input>,
  subject: Subject<Input>,
  { seed, runs, path, onInput }: FuzzRun,
): Promise<Finding | undefined> {
  using faults = watchProcess()
  let failedAt = Infinity
  const property = fc.asyncProperty(inputs, async (input) => {
    if (performance.now() > failedAt + shrinkingMs) return
    onInput?.()
    try {
      await subject.check(input)
      faults.throwFirst()
    } catch (error) {
      failedAt = Math.min(failedAt, performance.now())
      throw error
    }
  })
  const replay = path === undefined ? { numRuns: runs } : { path, numRuns: 1, endOnFailure: true }
  const { failed, counterexample, counterexamplePath, errorInstance } = await fc.check(property, {
    seed,
    ...replay,
  })
  if (!failed) return undefined
  const input = escaped(counterexample?.[0])
  return {
    target: name,
    seed,
    path: counterexamplePath ?? undefined,
    input,
    message: text(errorInstance),
  }
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
