/**
 * Writes packages/contract/results.md, the README's table of stores and the table of S3 servers in docs/minio.md from the results
 * of the last run of scripts/test that had every store: `CI=true scripts/test packages/contract
 * packages/store-disk packages/store-minio` is enough.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatedDocuments } from './matrix/documents.ts'
import { resultProblems } from './matrix/result-problems.ts'
import { readResults } from './matrix/results-file.ts'
import { stores } from './matrix/stores.ts'

const root = join(import.meta.dirname, '..')
const results = await readResults(root)
const suites = stores.flatMap((store) => store.suites)
const problems = resultProblems(suites, results)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

if (problems.length === 0) {
  for (const { path, wanted } of await generatedDocuments(root, stores, results)) {
    await writeFile(join(root, path), wanted)
  }
}
