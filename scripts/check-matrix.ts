/**
 * Ends with code 1 and one line a problem when the documents tell other contract results than the last complete run of
 * the tests gave, or when that run left out a store. Part of scripts/test, after the tests.
 */
import { join } from 'node:path'
import { documentProblems } from './matrix/document-problems.ts'
import { readResults } from './matrix/results-file.ts'
import { stores } from './matrix/stores.ts'

const root = join(import.meta.dirname, '..')
const problems = await documentProblems(root, stores, await readResults(root))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
