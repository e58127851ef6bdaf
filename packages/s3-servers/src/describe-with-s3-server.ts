import { appendFileSync } from 'node:fs'
import { invertFailures } from './invert-failures.ts'
import type { KnownFailure, S3ServerKind } from './known-failures.ts'
import { startS3Server, type RunningS3Server } from './start-s3-server.ts'

const startLimitMs = 120_000
const testLimitMs = 180_000

/**
 * Declares a mocha suite whose tests share a server of `kind`, and which of them it must fail: each of `failures` must
 * name a test of `body`, and that test must fail in that way.
 *
 * Left out as the suites of `describeWithContainers` are, where `HOLDFAST_WITHOUT_CONTAINERS` names a file.
 */
export function describeWithS3Server(
  kind: S3ServerKind,
  title: string,
  failures: readonly KnownFailure[],
  body: (server: () => RunningS3Server) => void,
): void {
  const leftOut = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOut) return appendFileSync(leftOut, `${title}\n`)
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
    invertFailures(this, failures)
  })
}
