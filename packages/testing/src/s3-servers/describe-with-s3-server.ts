import { appendFileSync } from 'node:fs'
import type { KnownFailure, S3ServerKind } from './known-failures.ts'
import { startS3Server, type RunningS3Server } from './start-s3-server.ts'

const startLimitMs = 120_000
const testLimitMs = 180_000

/** How the tests of a suite differ on a server. */
export interface S3ServerSuiteOptions {
  /** Each must name a test of the suite, and that test must fail in that way. Default: none. */
  readonly failures?: readonly KnownFailure[]
  /** Tests and suites that do not run; titles as in `KnownFailure`. Default: none. */
  readonly leftOut?: readonly string[]
}

/**
 * Declares a mocha suite whose tests share a server of `kind`.
 *
 * It is left out as the suites of `describeWithContainers` are, where `HOLDFAST_WITHOUT_CONTAINERS` names a file.
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
    // They are slower than MinIO, one of them by far.
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

/** What stands before the title of a test that must fail. */
const knownFailureMark = 'fails as known: '

/**
 * Has the tests of `suite` that `failures` name pass where they fail in the way that is known, and fail where they pass.
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
 * Removes from `suite` the tests and suites of these titles, so that they do not run. A title has those of the suites
 * around it, from `suite` on without its own, joined by ` > `.
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
