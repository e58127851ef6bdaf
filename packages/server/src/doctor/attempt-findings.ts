import { finding, type Finding } from '@holdfast/core'
import { UsageError } from '../config/usage-error.ts'
import { toldFinding } from './told-finding.ts'

/**
 * The `findings`, and where they break off, why, as a problem of `check`. Rejects with the reason of `signal` and nothing
 * else.
 */
export async function* attemptFindings(
  check: string,
  findings: AsyncIterable<Finding>,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  try {
    yield* findings
  } catch (error) {
    signal?.throwIfAborted()
    yield error instanceof UsageError
      ? toldFinding('problem', check, error.message)
      : finding('problem', check, `could not be examined: ${String(error)}`)
  }
}
