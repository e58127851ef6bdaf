/**
 * The body of scripts/test: every check, then the tests, whatever failed before. A check counts as one. Arguments go to
 * mocha. Ends with the line `N passed, N failed`, and with code 1 if anything failed.
 */
import { join } from 'node:path'
import { leftOutSuites } from './left-out-suites.ts'
import { runProgram } from './run-program.ts'
import { runTests } from './run-tests.ts'
import type { Tally } from './tally.ts'

const root = join(import.meta.dirname, '../..')

type Check = readonly [title: string, ...command: string[]]

const checks: readonly Check[] = [
  // First, since tests import other packages as they are published: from dist.
  ['build and types', 'tsc', '--build'],
  ['types of the tests', 'tsc', '-p', 'tsconfig.test.json'],
  ['lint', 'eslint', '.'],
  ['format', 'prettier', '--check', '--log-level', 'warn', '.'],
  ['unused code and dependencies', 'knip', '--no-config-hints'],
  ['package boundaries', 'node', 'scripts/check-boundaries.ts'],
  ['links in the documentation', 'node', 'scripts/check-docs.ts'],
]

const total: Tally = { passed: 0, failed: 0 }
const failures: string[] = []

for (const check of checks) await runCheck(check)
const args = process.argv.slice(2)
await count('tests', () => runTests(root, args))
const leftOut = leftOutSuites()
// A choice of tests, which is what arguments and the waiver make, has not the results of every store.
if (args.length === 0 && !leftOut) {
  await runCheck(['contract results in the documentation', 'node', 'scripts/check-matrix.ts'])
}

console.log()
for (const failure of failures) console.log(`failed: ${failure}`)
if (leftOut) console.log(`left out (--without-containers): ${leftOut.join(', ') || 'nothing'}`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1

async function runCheck([title, ...command]: Check): Promise<void> {
  await count(title, async () => {
    const endedWell = await runProgram(root, command)
    return { passed: endedWell ? 1 : 0, failed: endedWell ? 0 : 1 }
  })
}

async function count(title: string, run: () => Promise<Tally>): Promise<void> {
  console.log(`\n== ${title}`)
  const startedAt = performance.now()
  const { passed, failed, failures: which = [] } = await run()
  total.passed += passed
  total.failed += failed
  if (failed > 0) failures.push(title, ...which.map((one) => `${title}: ${one}`))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`   ${failed === 0 ? 'ok' : 'FAILED'} (${seconds} s)`)
}
