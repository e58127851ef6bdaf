import { advice, adviceText, SetupError, type Advice } from '@holdfast/core'

/** One mistake in a customers file, and what to do about it. It never contains a password or a hash. */
export interface CustomersFileProblem extends Advice {
  /** Counted from 1; `undefined` if the problem has no line, such as a missing file. */
  readonly line?: number | undefined
  /** The path in the data, such as `customers[2].password`; `undefined` for the whole file. */
  readonly field?: string | undefined
}

const shownProblems = 20

/**
 * The error for a customers file that cannot be read, parsed, edited or written. The message is for a person: it has one line for each
 * problem, with file, line, field, what is wrong and the remedy; it never shows a password or a hash.
 */
export class CustomersFileError extends SetupError {
  override readonly name = 'CustomersFileError'
  readonly path: string
  /** Ordered by line. */
  readonly problems: readonly CustomersFileProblem[]
  /** The lines of the message: one for each problem; if there are too many, the last line has the number of the others. */
  readonly lines: readonly string[]

  constructor(path: string, problems: readonly CustomersFileProblem[], cause?: unknown) {
    const located = problems.map((problem) => adviceAt(path, problem))
    const lines = linesOf(path, located)
    const [first] = located
    if (first !== undefined && located.length === 1) super(first.problem, first.remedies, cause)
    else super(lines.join('\n'), [], cause)
    this.path = path
    this.problems = problems
    this.lines = lines
  }
}

function adviceAt(path: string, { line, field, problem, remedies }: CustomersFileProblem): Advice {
  const location = line === undefined ? path : `${path}:${line}`
  const parts = [location, ...(field === undefined ? [] : [field]), problem]
  return { problem: parts.join(': '), remedies }
}

function linesOf(path: string, located: readonly Advice[]): readonly string[] {
  const lines = located.slice(0, shownProblems).map(adviceText)
  const more = located.length - lines.length
  return [...lines, ...(more > 0 ? [`${path}: and ${more} more problems`] : [])]
}

/** The error if others have changed the file after it was opened. The same edit of the new file may succeed. */
export class OutdatedEditError extends CustomersFileError {
  constructor(path: string) {
    super(path, [advice('was changed by others meanwhile', 'nothing was written, try again')])
  }
}
