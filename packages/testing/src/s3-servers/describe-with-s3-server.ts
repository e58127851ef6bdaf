import { appendFileSync } from 'node:fs'
import type { KnownFailure, S3ServerKind } from './known-failures.ts'
import { startS3Server, type RunningS3Server } from './start-s3-server.ts'

const startLimitMs = 120_000
const testLimitMs = 180_000

/** How a server differs in the tests of a suite. */
export interface S3ServerSuiteOptions {
  /** Each must name a test of the suite, and that test must fail in that way. Default: none. */
  readonly failures?: readonly KnownFailure[]
  /** Titles of tests and suites that do not run, in the form of `KnownFailure`. Default: none. */
  readonly leftOut?: readonly string[]
}

/**
 * Declares a mocha suite whose tests share a server of `kind`.
 *
 * Like the suites of `describeWithContainers`, it is left out if `HOLDFAST_WITHOUT_CONTAINERS` names a file.
 */
export function describeWithS3Server(
  kind: S3ServerKind,
  title: string,
  body: (server: () => RunningS3Server) => void,
  { failures = [], leftOut = [] }: S3ServerSuiteOptions = {},
): void {
  const leftOutFile = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOutFile) return appendFileSync(leftOutFile, `${title}\n`)
  describe(title, function () {
    // These servers are slower than MinIO, one of them by far.
    this.timeout(testLimitMs)
    let running: RunningS3Server | undefined
    before(`starts ${kind}`, async function () {
      this.timeout(startLimitMs)
      running = await startS3Server(kind)
    })
    after(`stops ${kind}`, async function () {
      this.timeout(startLimitMs)
      await running?.stop()
    })
    body(() => {
      if (running) return running
      throw new Error(`${kind} runs during the tests of "${title}" only`)
    })
    leaveOut(this, leftOut)
    invertFailures(this, failures)
  })
}

/** Precedes the title of a test that must fail. */
const knownFailureMark = 'fails as known: '

/**
 * Makes the tests of `suite` that `failures` names pass if they fail in the known way, and fail if they pass.
 *
 * @throws Error for a title that no test has, or that two entries have
 */
export function invertFailures(suite: Mocha.Suite, failures: readonly KnownFailure[]): void {
  const depth = suite.titlePath().length
  const known = new Map<string, KnownFailure>()
  for (const failure of failures) {
    for (const title of failure.tests) {
      if (known.has(title)) throw new Error(`Known to fail twice: ${title}`)
      known.set(title, failure)
    }
  }
  suite.eachTest((test) => {
    const title = test.titlePath().slice(depth).join(' > ')
    const failure = known.get(title)
    if (!failure) return
    known.delete(title)
    invert(test, failure)
  })
  const [missing] = known.keys()
  if (missing !== undefined) throw new Error(`Known to fail, but no test: ${missing}`)
}

function invert(test: Mocha.Test, { cannot, error: expected }: KnownFailure): void {
  const run: ((this: Mocha.Context, done: Mocha.Done) => unknown) | undefined = test.fn
  test.title = knownFailureMark + test.title
  test.fn = async function (this: Mocha.Context) {
    const failure = await attempt(() => run?.call(this, () => {}))
    if (!failure) throw new Error(`Passes, although this is known of the server: ${cannot}`)
    if (expected.test(failure.text)) return
    throw new Error(`Fails otherwise than is known (${expected}): ${failure.text}`)
  }
}

async function attempt(run: () => unknown): Promise<{ readonly text: string } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return { text: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

/**
 * Removes the tests and suites with these titles from `suite`, so that they do not run. A title includes those of the suites around it,
 * below `suite`, joined by ` > `.
 *
 * @throws Error for a title that neither a test nor a suite has
 */
export function leaveOut(suite: Mocha.Suite, titles: readonly string[]): void {
  const missing = new Set(titles)
  const isWanted = (path: string) => !missing.delete(path)
  const prune = (parent: Mocha.Suite, prefix: string) => {
    const pathOf = ({ title }: { readonly title: string }) => `${prefix}${title}`
    parent.tests = parent.tests.filter((test) => isWanted(pathOf(test)))
    parent.suites = parent.suites.filter((child) => isWanted(pathOf(child)))
    for (const child of parent.suites) prune(child, `${pathOf(child)} > `)
  }
  prune(suite, '')
  const [first] = missing
  if (first !== undefined) throw new Error(`To be left out, but there is no such test: ${first}`)
}
