import { carriesAdvice, finding, type Finding, type Advice, type FindingMark } from '@holdfast/core'

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

/** The finding that says what `advice` says. */
export function adviceFinding(
  mark: FindingMark,
  check: string,
  { problem, remedies }: Advice,
): Finding {
  return finding(mark, check, problem.replace(/[.:]$/, ''), ...remedies)
}
