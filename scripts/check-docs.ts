/** Ends with code 1 and one line a problem when a link in the documentation leads nowhere. Part of scripts/test. */
import { join } from 'node:path'
import { linkProblems } from './links/link-problems.ts'

const problems = await linkProblems(join(import.meta.dirname, '..'))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
