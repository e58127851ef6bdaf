/** What is wrong, and what to do about it, in words for the person who runs the service. */
export interface Advice {
  /** What is wrong. After a colon at its end, words go on in the same line, and names or commands stand below it. */
  readonly problem: string
  /**
   * What to do, each a command, or part of a sentence, or a sentence of its own, which begins with a capital letter. None where
   * nothing can be done, or where that is plain.
   */
  readonly remedies: readonly string[]
}

/** Puts an {@link Advice} together. */
export function advice(problem: string, ...remedies: readonly string[]): Advice {
  return { problem, remedies }
}

/** All that `advice` says, as one text for a terminal or a log. */
export function adviceText({ problem, remedies }: Advice): string {
  if (problem.endsWith(':')) return [problem, ...remedies].join(areWords(remedies) ? ' ' : '\n  ')
  return remedies.reduce(
    (text, remedy) => `${text}${isSentence(remedy) ? '.' : ';'} ${remedy}`,
    problem,
  )
}

function areWords([first = '']: readonly string[]): boolean {
  return /^[a-z]/.test(first)
}

function isSentence(remedy: string): boolean {
  return /^[A-Z]/.test(remedy)
}

/**
 * Whether `error` carries an {@link Advice}, so that its message is for the person who runs the service, and no stack is needed.
 * Tests the shape and not the class, since two copies of this package may be installed side by side.
 */
export function carriesAdvice(error: unknown): error is Error & Advice {
  return (
    error instanceof Error &&
    'problem' in error &&
    typeof error.problem === 'string' &&
    'remedies' in error &&
    Array.isArray(error.remedies)
  )
}

/** The advice that `error` carries; the message of any other, without remedies. */
export function adviceOf(error: unknown): Advice {
  if (carriesAdvice(error)) return advice(error.problem, ...error.remedies)
  return advice(error instanceof Error ? error.message : String(error))
}

/** A `RangeError` for text that a person wrote, which carries the advice. */
export function rangeErrorOf(advice: Advice): RangeError & Advice {
  return Object.assign(new RangeError(adviceText(advice)), advice)
}

/** The same advice as a whole sentence, which ends with a full stop or a question mark. */
export function asSentence({ problem, remedies }: Advice): Advice {
  const last = remedies.at(-1)
  if (last === undefined) return advice(ended(problem))
  return advice(problem, ...remedies.slice(0, -1), ended(last))
}

function ended(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`
}

/**
 * Why a service cannot be set up, as its administrator can change it: a setting, a file, a store, a port. `problem` and `remedies`
 * say what is wrong and what to do; `message` has both in one text.
 */
export class SetupError extends Error implements Advice {
  override readonly name: string = 'SetupError'
  readonly problem: string
  readonly remedies: readonly string[]

  constructor(problem: string, remedies: readonly string[] = [], cause?: unknown) {
    super(adviceText({ problem, remedies }), cause === undefined ? undefined : { cause })
    this.problem = problem
    this.remedies = remedies
  }
}

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
