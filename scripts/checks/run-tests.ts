import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tally } from './tally.ts'
import { mochaArguments } from './mocha-arguments.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs mocha in `root` with the arguments given to `scripts/test` and counts the tests. A run that ends badly without a
 * failed test (a file that does not load, no test at all, a crash) counts as one failure.
 */
export async function runTests(root: string, args: readonly string[]): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-tests-'))
  try {
    const file = join(folder, 'counts.json')
    const endedWell = await runProgram(root, [
      'mocha',
      '--reporter-option',
      `counts=${file}`,
      ...mochaArguments(root, args),
    ])
    const { passed, failed } = await readCounts(file)
    return { passed, failed: endedWell ? failed : Math.max(failed, 1) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

// Mocha writes no counts when it ends before the tests do, whatever its exit code says.
async function readCounts(file: string): Promise<Tally> {
  const text = await readFile(file, 'utf8').catch(() => '{"passed":0,"failed":1}')
  return JSON.parse(text) as Tally
}
