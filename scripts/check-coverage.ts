/**
 * Prints how much of each package's sources the tests of the last run of scripts/test with coverage have run in their own
 * processes, and ends with code 1 where that is less than scripts/test-coverage/floors.json has. Part of scripts/test,
 * after the tests. `c8 report --reporter text` names each file with the lines that have not been run.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  coverageProblems,
  packageCoverage,
  type Coverage,
  type Summary,
} from './test-coverage/package-coverage.ts'

const root = join(import.meta.dirname, '..')
const found = packageCoverage(root, summarize())
console.table(found)
const floors = JSON.parse(
  readFileSync(join(import.meta.dirname, 'test-coverage/floors.json'), 'utf8'),
) as Record<string, Coverage>
const problems = coverageProblems(floors, found)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

function summarize(): Summary {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-'))
  try {
    const c8 = join(root, 'node_modules/.bin/c8')
    const args = ['report', '--reporter', 'json-summary', '--reports-dir', folder]
    execFileSync(c8, args, { cwd: root, stdio: 'inherit' })
    return JSON.parse(readFileSync(join(folder, 'coverage-summary.json'), 'utf8')) as Summary
  } finally {
    rmSync(folder, { recursive: true })
  }
}
