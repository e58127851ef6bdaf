import { writeFileSync } from 'node:fs'
import mocha from 'mocha'

/**
 * Mocha's spec reporter, which also leaves its counts for `scripts/test`: as JSON `{"passed": 3, "failed": 0}` in the
 * file named by the reporter option `counts`. Without that option it is the spec reporter.
 */
class CountingReporter extends mocha.reporters.Spec {
  readonly #countsFile: string | undefined

  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    this.#countsFile = (options.reporterOptions as { counts?: string } | undefined)?.counts
  }

  override epilogue(): void {
    super.epilogue()
    if (this.#countsFile === undefined) return
    const counts = { passed: this.stats.passes, failed: this.stats.failures }
    writeFileSync(this.#countsFile, JSON.stringify(counts))
  }
}

// Mocha takes a reporter module's default export.
// eslint-disable-next-line no-restricted-syntax
export default CountingReporter
