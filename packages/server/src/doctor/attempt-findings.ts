import { carriesAdvice, finding, type Finding } from '@holdfast/core'
import { adviceFinding } from './advice-finding.ts'

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
    yield carriesAdvice(error)
      ? adviceFinding('problem', check, error)
      : finding('problem', check, `could not be examined: ${String(error)}`)
  }
}
