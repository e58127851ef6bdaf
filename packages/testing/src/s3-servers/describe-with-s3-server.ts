import { appendFileSync } from 'node:fs'
import { invertFailures } from './invert-failures.ts'
import type { KnownFailure, S3ServerKind } from './known-failures.ts'
import { leaveOut } from './leave-out.ts'
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
