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

/** The message of `error`; for a thrown value that is not an `Error`, the value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The advice of `error`; for an error without one, its message without remedies. */
export function adviceOf(error: unknown): Advice {
  if (carriesAdvice(error)) return advice(error.problem, ...error.remedies)
  return advice(messageOf(error))
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

const unitFactors: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
])

/**
 * Reads a number of bytes as a person writes it: `1048576`, `50GB`, `1.5 GiB`, `10 mib`. Units, in upper or lower case: B; kB, MB,
 * GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024. A fraction of a byte is cut off.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text, for negative sizes, and for sizes beyond
 *   `Number.MAX_SAFE_INTEGER`. A `K`, `M` or `G` alone is refused, since it has two meanings. The message can end a sentence (`is
 *   not a size …`).
 */
export function parseByteSize(text: string): number {
  const [, digits, unit] = /^(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]{0,3})$/i.exec(text.trim()) ?? []
  const factor = unitFactors.get(unit?.toLowerCase() ?? '?')
  if (digits === undefined || factor === undefined) {
    throw rangeErrorOf(
      advice('is not a size', 'write bytes as in 1048576, or a unit as in 50GB or 10 MiB'),
    )
  }
  const bytes = Math.floor(Number(digits) * factor)
  if (!Number.isSafeInteger(bytes)) throw new RangeError('is a larger size than can be counted')
  return bytes
}

const keepUnits: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 24 * 3_600_000,
}

/**
 * Reads how long earlier versions and deleted files are kept, such as `30d` or `off`; in milliseconds, 0 for `off`.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text, and for less than a minute or more than 36,500 days. The
 *   message can end a sentence (`is not a time …`).
 */
export function parseKeepReplaced(text: string): number {
  const trimmed = text.trim()
  if (trimmed === 'off') return 0
  const [, digits, unit = ''] = /^(\d{1,8}(?:\.\d{1,3})?)\s*([mhd])$/.exec(trimmed) ?? []
  const ms = Number(digits) * (keepUnits[unit] ?? NaN)
  if (ms >= 60_000 && ms <= 36_500 * 24 * 3_600_000) return Math.round(ms)
  throw rangeErrorOf(
    advice('is not a time between 1m and 36500d', 'write it as in 30d or 12h, or off'),
  )
}

const decimalUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number of bytes as text for people, with up to three digits and a unit in powers of 1000: `2.15 GB`, `512 B`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // A value that would be rounded up to 1000 becomes 1 of the next unit.
  while (value >= 999.5 && unit < decimalUnits.length - 1) {
    value /= 1000
    unit++
  }
  // Bytes have no decimals; other units have so many that the text has three digits.
  const decimals = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(decimals)} ${decimalUnits[unit] ?? ''}`
}

/**
 * The one of `words` that the writer of `word` probably meant: equal except for case, or at most two edits away; for a `word` of up
 * to three letters, at most one.
 */
export function closestWord(word: string, words: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  let closest: string | undefined
  let least = word.length > 3 ? 3 : 2
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = editDistance(lower, candidate.toLowerCase())
    if (distance < least && distance < candidate.length) [closest, least] = [candidate, distance]
  }
  return closest
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of Array.from(from).entries()) {
    let left = index + 1
    row = [
      left,
      ...row.slice(1).map((above, column) => {
        const replaced = (row[column] ?? 0) + (to[column] === letter ? 0 : 1)
        return (left = Math.min(above + 1, left + 1, replaced))
      }),
    ]
  }
  return row[to.length] ?? 0
}

/** Whether the `hostname` of a URL is this machine: `localhost` or a subdomain of it, ::1, or an address of 127.0.0.0/8. */
export function isLoopbackHost(hostname: string): boolean {
  // URLs normalize each such address to this form. A name that only begins with "127." may be any machine.
  return /^(127(\.\d{1,3}){3}|\[::1\]|(.*\.)?localhost)$/.test(hostname)
}
