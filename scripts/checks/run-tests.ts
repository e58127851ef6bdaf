import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clearResults, resultsFile } from '../matrix/results-file.ts'
import type { Tally } from './tally.ts'
import { mochaArguments } from './mocha-arguments.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs mocha in `root` with the arguments given to `scripts/test` and counts the tests. A run that ends badly without a
 * failed test (a file that does not load, no test at all, a crash) counts as one failure. Without arguments, which may
 * all leave something out, the results of the contract suite are kept for `check-matrix.ts`.
 */
export async function runTests(root: string, args: readonly string[]): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-tests-'))
  try {
    const file = join(folder, 'counts.json')
    const isComplete = args.length === 0
    if (isComplete) await clearResults(root)
    const endedWell = await runProgram(root, [
      'mocha',
      '--reporter-option',
      `counts=${file}`,
      ...(isComplete ? ['--reporter-option', `contract=${resultsFile(root)}`] : []),
      ...mochaArguments(root, args),
    ])
    const { passed, failed, failures = [] } = await readCounts(file)
    return { passed, failed: endedWell ? failed : Math.max(failed, 1), failures }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

// Mocha writes no counts when it ends before the tests do, whatever its exit code says.
async function readCounts(file: string): Promise<Tally> {
  const text = await readFile(file, 'utf8').catch(() => '{"passed":0,"failed":1}')
  return JSON.parse(text) as Tally
}
