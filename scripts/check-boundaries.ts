/** Ends with code 1 and one line a problem when a package knows another that it must not know. Part of scripts/test. */
import { join } from 'node:path'
import { boundaryProblems } from './boundaries/boundary-problems.ts'

const problems = await boundaryProblems(join(import.meta.dirname, '..'))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
