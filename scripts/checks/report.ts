import type { ContractResult } from '../matrix/contract-result.ts'

/** What checks, or tests, came to. */
export interface Report {
  readonly passed: number
  readonly failures: readonly Failure[]
  /** What the program said. */
  readonly output: string
  /** Of its processes, where that is known. */
  readonly processorSeconds?: number | undefined
  /** Lines of suites that have counted something. */
  readonly figures: readonly string[]
  /** Results of the contract suite. */
  readonly contract: readonly ContractResult[]
}

/** One test, or one check, that failed. */
export interface Failure {
  /** The file that the test is in; none for a check. */
  readonly file?: string
  /** The names of the suites and of the test, or the check. */
  readonly title: string
  readonly message: string
  /** A command that runs it once more, and little else. */
  readonly again: string
}

/** The sum of `reports`. */
export function addReports(
  reports: readonly Report[],
): Omit<Report, 'output' | 'processorSeconds'> {
  return {
    passed: reports.reduce((sum, { passed }) => sum + passed, 0),
    failures: reports.flatMap(({ failures }) => failures),
    figures: reports.flatMap(({ figures }) => figures),
    contract: reports.flatMap(({ contract }) => contract),
  }
}

/** Of a run that has run no test. */
export const noTest: Report = {
  passed: 0,
  failures: [{ title: 'tests', message: 'none has run', again: 'scripts/test' }],
  output: '',
  figures: [],
  contract: [],
}
