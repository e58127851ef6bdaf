import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ContractResult } from './contract-result.ts'

/** Where a run of the tests in `root` that had every store leaves its results, as JSON: a place that git ignores. */
function resultsFile(root: string): string {
  return join(root, 'node_modules/.cache/holdfast/contract-results.json')
}

/** Keeps the results of a run that had every store. */
export async function keepResults(root: string, results: readonly ContractResult[]): Promise<void> {
  await mkdir(dirname(resultsFile(root)), { recursive: true })
  await writeFile(resultsFile(root), JSON.stringify(results))
}

/** Forgets the results of the last such run, so that they are not taken for those of a new one. */
export async function forgetResults(root: string): Promise<void> {
  await rm(resultsFile(root), { force: true })
}

/** The results of the last such run; rejects, saying how to get them, when there are none. */
export async function readResults(root: string): Promise<ContractResult[]> {
  const text = await readFile(resultsFile(root), 'utf8').catch((cause: unknown) => {
    throw new Error(
      'there are no results: run the tests of every store, as scripts/write-matrix.ts says',
      {
        cause,
      },
    )
  })
  return JSON.parse(text) as ContractResult[]
}
