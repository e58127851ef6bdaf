import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestResults } from '../mocha-reporter.ts'
import type { TestGroup } from './group-tests.ts'
import { hasMark } from './has-mark.ts'
import type { JobKind } from './job-kind.ts'
import type { Failure, Report } from './report.ts'
import type { Job } from './run-jobs.ts'
import { runProgram } from './run-program.ts'
import { shellWord } from './shell-word.ts'

/** Folders that the tests of a run share. */
export interface TestFolders {
  /** Where processes leave what they have run of the sources; none where that is not collected. */
  readonly coverage?: string | undefined
  /** Where processes whose coverage is not collected, and those that tests start, keep what Node.js has compiled. */
  readonly compiled?: string | undefined
  /** Where temporary files of tests lie, instead of the system's place for them. */
  readonly temporary?: string | undefined
}

/**
 * The tests of a file, or of files that share a process, with `options` for mocha. A process that ends badly without a failed
 * test (a file that does not load, a crash) counts as one failure. A file none of whose tests is chosen is well.
 */
export function testJob(
  root: string,
  { title, files }: TestGroup,
  kind: JobKind,
  options: readonly string[],
  folders: TestFolders = {},
): Job<Report> {
  const variables = variablesFor(files, folders)
  return {
    title,
    kind,
    isAlone: files.some((file) => hasMark(file, 'alone')),
    isExternal: files.some((file) => hasMark(file, 'external')),
    run: async (stop) => {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-tests-'))
      try {
        const path = join(folder, 'results.json')
        const mocha = ['mocha', '--no-failZero', '--reporter-option', `results=${path}`]
        if (process.stdout.isTTY) mocha.push('--color')
        const command = [...mocha, ...options, ...files]
        const { problem, ...rest } = await runProgram(root, command, stop, variables)
        return { ...reportOf(files, problem, await readResults(path)), ...rest }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

/** Tests that run what other tests run, once more. */
const repeating: readonly string[] = [
  'packages/system-tests/',
  'packages/store-minio/test/other-servers/',
]

/**
 * Collecting coverage costs the process of a contract a seventh of its time and more. So tests that repeat what others do leave none;
 * and those that measure must not be slowed down.
 */
function variablesFor(
  files: readonly string[],
  { coverage, compiled, temporary }: TestFolders,
): Record<string, string | undefined> {
  const isRepeating = files.some((file) => repeating.some((folder) => file.startsWith(folder)))
  const isMeasuring = files.some((file) => hasMark(file, 'alone'))
  const isCovering = coverage !== undefined && !isRepeating && !isMeasuring
  // Code that is kept compiled has less precise coverage, and takes less memory.
  const kept = isMeasuring ? undefined : compiled
  return {
    ...(isCovering && { NODE_V8_COVERAGE: coverage, HOLDFAST_TEST_COMPILED: kept }),
    // Also undefined where the one who runs this, which may be a test, has it.
    NODE_COMPILE_CACHE: isCovering ? undefined : kept,
    ...(temporary !== undefined && { TMPDIR: temporary }),
  }
}

/** There are none where mocha has ended before the tests did, whatever its exit code says. */
async function readResults(path: string): Promise<TestResults | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as TestResults)
}

function reportOf(
  files: readonly string[],
  problem: string | undefined,
  results: TestResults | undefined,
): Omit<Report, 'output'> {
  const all = files.join(' ')
  const failures: Failure[] = (results?.failures ?? []).map(
    ({ file = all, title, message, grep }) => {
      const choice = grep === undefined ? '' : ` --fgrep ${shellWord(grep)}`
      return { file, title, message, again: `scripts/test ${file}${choice}` }
    },
  )
  if (failures.length === 0 && (problem !== undefined || results === undefined)) {
    const message = `ended ${problem ?? 'before its tests'}`
    failures.push({ file: all, title: 'all of it', message, again: `scripts/test ${all}` })
  }
  const { passed = 0, figures = [], contract = [] } = results ?? {}
  return { passed, failures, figures, contract }
}
