/**
 * Ends with code 1 and one line a problem when a link in the documentation leads nowhere, or when a reader faces too
 * many lines. Part of scripts/test.
 */
import { join } from 'node:path'
import { lengthProblems } from './links/length-problems.ts'
import { linkProblems } from './links/link-problems.ts'

const root = join(import.meta.dirname, '..')
const problems = [...(await linkProblems(root)), ...lengthProblems(root)]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
