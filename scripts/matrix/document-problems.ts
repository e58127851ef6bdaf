import type { ContractResult } from './contract-result.ts'
import { generatedDocuments, type GeneratedDocument } from './documents.ts'
import { resultProblems } from './result-problems.ts'
import type { Store } from './stores.ts'

/** Says what is wrong with `results`, or else where the documents at `root` tell something different. */
export async function documentProblems(
  root: string,
  stores: readonly Store[],
  results: readonly ContractResult[],
): Promise<string[]> {
  const suites = stores.flatMap((store) => store.suites)
  const problems = resultProblems(suites, results)
  if (problems.length > 0) return problems
  const documents = await generatedDocuments(root, stores, results)
  return documents.filter(({ present, wanted }) => present !== wanted).map(differenceOf)
}

function differenceOf({ path, present = '', wanted }: GeneratedDocument): string {
  const lines = present.split('\n')
  const wantedLines = wanted.split('\n')
  const at = wantedLines.findIndex((line, index) => line !== lines[index])
  const where = at < 0 ? 'goes on after its end' : `line ${at + 1} should be: ${wantedLines[at]!}`
  return `${path} is not what the tests gave (node scripts/write-matrix.ts writes it): ${where}`
}
