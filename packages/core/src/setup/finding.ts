/** How a check ended; `skipped`: it could not be made, which is neither good nor bad. */
export type FindingMark = 'ok' | 'warning' | 'problem' | 'skipped'

/**
 * What one check of an installation found, in words for its administrator. `warning`: it works, and should not stay so.
 * `problem`: what is promised does not hold, or the service cannot run.
 */
export interface Finding {
  /** What was checked, in one to three words, such as `free space`. */
  readonly check: string
  readonly mark: FindingMark
  /** What was found, without a dot at the end. May hold names of files as they are. */
  readonly message: string
  /** What to do about it, each a command or a sentence; none where nothing is to be done. */
  readonly remedies: readonly string[]
}

/** Says that `check` has found `message`. */
export function finding(
  mark: FindingMark,
  check: string,
  message: string,
  ...remedies: readonly string[]
): Finding {
  return { check, mark, message, remedies }
}
