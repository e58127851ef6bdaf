import { finding, type Advice, type Finding, type FindingMark } from '@holdfast/core'

/** The finding that says what `advice` says. */
export function adviceFinding(
  mark: FindingMark,
  check: string,
  { problem, remedies }: Advice,
): Finding {
  return finding(mark, check, problem.replace(/[.:]$/, ''), ...remedies)
}
