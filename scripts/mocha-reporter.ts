import { writeFileSync } from 'node:fs'
import mocha from 'mocha'
import { collectContractResults } from './matrix/collect-contract-results.ts'
import type { ContractResult } from './matrix/contract-result.ts'
import { collectFigures } from './checks/collect-figures.ts'

interface Files {
  counts?: string
  contract?: string
}

/**
 * Mocha's spec reporter, which shows what suites have counted once more at the end, and also leaves for `scripts/test`,
 * as JSON in the files named by the reporter options:
 * `counts`, its counts as `{"passed": 3, "failed": 1, "failures": ["name of the test: why"]}`; `contract`, the results of
 * the contract suite on every store.
 * Without these options it is the spec reporter.
 */
class CountingReporter extends mocha.reporters.Spec {
  readonly #files: Files
  readonly #contractResults: readonly ContractResult[]
  readonly #figures = collectFigures()

  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    this.#files = (options.reporterOptions ?? {}) as Files
    this.#contractResults = collectContractResults(runner)
  }

  override epilogue(): void {
    super.epilogue()
    for (const line of this.#figures()) console.log(`  ${line}`)
    const { counts, contract } = this.#files
    const { passes: passed, failures: failed } = this.stats
    const failures = this.failures.map(inOneLine)
    if (counts !== undefined) writeFileSync(counts, JSON.stringify({ passed, failed, failures }))
    if (contract !== undefined) writeFileSync(contract, JSON.stringify(this.#contractResults))
  }
}

/** Which test failed, and why. */
function inOneLine(test: mocha.Test): string {
  const [reason = ''] = (test.err?.message ?? '').split('\n')
  return `${test.titlePath().join(' > ')}: ${reason}`
}

// Mocha takes a reporter module's default export.
// eslint-disable-next-line no-restricted-syntax
export default CountingReporter
