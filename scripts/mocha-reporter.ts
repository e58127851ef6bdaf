import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import mocha from 'mocha'
import { collectContractResults } from './matrix/collect-contract-results.ts'
import type { ContractResult } from './matrix/contract-result.ts'
import { collectFigures } from './checks/collect-figures.ts'

/** What a run of mocha leaves for `scripts/test`. */
export interface TestResults {
  passed: number
  failures: FailedTest[]
  /** Lines of suites that have counted something. */
  figures: readonly string[]
  /** Results of the contract suite on every store. */
  contract: readonly ContractResult[]
}

export interface FailedTest {
  /** The file that it is in, relative to the working directory; none for a hook outside of a suite. */
  file?: string
  /** The names of its suites and its own. */
  title: string
  message: string
  /** What chooses it, for mocha's --fgrep; none for a hook. */
  grep?: string
}

interface Options {
  /** Where to leave `TestResults`, as JSON. */
  results?: string
  /** How many seconds the process may live on then. */
  grace?: string
}

/**
 * Mocha's spec reporter, which also leaves what `scripts/test` wants to know in the file that the reporter option
 * `results` names. Without that option it is the spec reporter.
 */
class CountingReporter extends mocha.reporters.Spec {
  readonly #options: Options
  readonly #contractResults: readonly ContractResult[]
  readonly #figures = collectFigures()

  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    // Of this process only: what tests start is killed more often than not, and what it would write costs minutes.
    Reflect.deleteProperty(process.env, 'NODE_V8_COVERAGE')
    // Compiled code may be kept where no coverage is collected: scripts/test says where.
    const { HOLDFAST_TEST_COMPILED: compiled } = process.env
    Reflect.deleteProperty(process.env, 'HOLDFAST_TEST_COMPILED')
    if (compiled !== undefined) process.env['NODE_COMPILE_CACHE'] = compiled
    this.#options = (options.reporterOptions ?? {}) as Options
    this.#contractResults = collectContractResults(runner)
  }

  override epilogue(): void {
    super.epilogue()
    const results: TestResults = {
      passed: this.stats.passes,
      failures: this.failures.map(describeFailure),
      figures: this.#figures(),
      contract: this.#contractResults,
    }
    const { results: file, grace = 20 } = this.#options
    if (file === undefined) return
    writeFileSync(file, JSON.stringify(results))
    setTimeout(endBadly, Number(grace) * 1000).unref()
  }
}

/** For a process that would live for ever: tests have left a server, a socket or a timer. */
function endBadly(): void {
  const reasons = process.getActiveResourcesInfo().join(', ')
  console.error(`All tests have ended, but not this process, which is kept by ${reasons}`)
  // Mocha sets a code of its own when the process ends.
  process.on('exit', () => {
    process.exitCode = 1
  })
  process.exit()
}

function describeFailure(test: mocha.Test): FailedTest {
  const failed = {
    ...(test.file !== undefined && { file: relative(process.cwd(), test.file) }),
    title: test.titlePath().join(' > '),
    message: test.err?.message ?? '',
  }
  // A hook that fails is reported like a test.
  const { type }: { type: string } = test
  return type === 'test' ? { ...failed, grep: test.fullTitle() } : failed
}

// Mocha takes a reporter module's default export.
// oxlint-disable-next-line import/no-default-export
export default CountingReporter
