import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

/** What the arguments of `scripts/test` ask for. */
export interface TestArguments {
  /** Folders, test files and patterns, as they are named. */
  readonly paths: readonly string[]
  /** `--all`: also test files that take long. */
  readonly all: boolean
  /** `--coverage`: collect what the tests run of the sources. */
  readonly coverage: boolean
  /** `--flaky`: run the files in flaky-tests.ts, and nothing else. */
  readonly flaky: boolean
  /** `--watch`: run tests whenever a file that they import is saved. */
  readonly watch: boolean
  /** `--since REF`: the commit whose changes choose the tests. */
  readonly since: string | undefined
  /** `--jobs N`: how many test files run at a time. Default: one more than there are processors, since tests wait a good deal. */
  readonly lanes: number
  /** Options for mocha, such as `--grep`, each with its value. */
  readonly options: readonly string[]
}

const own = ['--all', '--coverage', '--flaky', '--watch', '--since', '--jobs'] as const

type Own = (typeof own)[number]

/**
 * Reads the arguments of `scripts/test`, which has checked already that there is each option and each path.
 *
 * @throws Error for a number of jobs that is none
 */
export function parseArguments(args: readonly string[]): TestArguments {
  const given = new Map<Own, string>()
  const paths: string[] = []
  const options: string[] = []
  const rest = args.values()
  for (const arg of rest) {
    const [name = '', attached] = arg.split(/=(.*)/s)
    const value = attached ?? (takesValue(name) ? rest.next().value : undefined)
    if (isOwn(name)) given.set(name, value ?? '')
    else if (name.startsWith('-'))
      options.push(arg, ...(attached === undefined && value !== undefined ? [value] : []))
    else paths.push(arg)
  }
  return {
    paths,
    options,
    all: given.has('--all'),
    coverage: given.has('--coverage'),
    flaky: given.has('--flaky'),
    watch: given.has('--watch'),
    since: given.get('--since'),
    lanes: lanesOf(given.get('--jobs')),
  }
}

function isOwn(name: string): name is Own {
  return own.some((option) => option === name)
}

let withValue: ReadonlySet<string> | undefined

function takesValue(name: string): boolean {
  withValue ??= new Set(
    readFileSync(join(import.meta.dirname, '../test-options.txt'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('-') && line.includes(' '))
      .map((line) => line.split(' ')[0] ?? ''),
  )
  return withValue.has(name)
}

function lanesOf(jobs: string | undefined): number {
  if (jobs === undefined) return availableParallelism() + 1
  const lanes = Number(jobs)
  if (!Number.isInteger(lanes) || lanes < 1) throw new Error('--jobs wants a number, 1 or more')
  return lanes
}
