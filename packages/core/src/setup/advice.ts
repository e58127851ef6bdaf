/** What is wrong, and what to do about it, for the person who runs the service. */
export interface Advice {
  /** What is wrong. If it ends with a colon, remedies in words follow on the same line, and names or commands below it. */
  readonly problem: string
  /**
   * What to do: each is a command, a part of a sentence, or a whole sentence, which begins with a capital letter. Empty if nothing
   * can be done, or if it is obvious.
   */
  readonly remedies: readonly string[]
}

/** Makes an {@link Advice}. */
export function advice(problem: string, ...remedies: readonly string[]): Advice {
  return { problem, remedies }
}

/** An advice as one text, for a terminal or a log. */
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
 * Whether `error` has an {@link Advice}: then its message is for the person who runs the service, and its stack is not needed. It
 * checks the shape and not the class, since two copies of this package may be installed.
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

/** The advice of `error`; for an error without one, its message without remedies. */
export function adviceOf(error: unknown): Advice {
  if (carriesAdvice(error)) return advice(error.problem, ...error.remedies)
  return advice(error instanceof Error ? error.message : String(error))
}

/** A `RangeError` with the advice, for text that a person wrote. */
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
 * Why a service cannot start, if its administrator can change that: because of a setting, a file, a store or a port. `problem` and
 * `remedies` say what is wrong and what to do; `message` has both in one text.
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

/** The result of a check; `skipped`: it could not be made, which is neither good nor bad. */
export type FindingMark = 'ok' | 'warning' | 'problem' | 'skipped'

/**
 * The result of one check of an installation, for its administrator. `warning`: the service works, but something should be changed.
 * `problem`: the service cannot run, or cannot keep a promise.
 */
export interface Finding {
  /** What was checked, in one to three words, such as `free space`. */
  readonly check: string
  readonly mark: FindingMark
  /** What was found, without a full stop at the end. May contain names of files unchanged. */
  readonly message: string
  /** What to do about it: each is a command or a sentence. Empty if nothing is to be done. */
  readonly remedies: readonly string[]
}

/** Makes a {@link Finding}. */
export function finding(
  mark: FindingMark,
  check: string,
  message: string,
  ...remedies: readonly string[]
): Finding {
  return { check, mark, message, remedies }
}
