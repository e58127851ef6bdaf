import { advice, adviceText, SetupError, type Advice } from '@holdfast/core'

/** One thing that is wrong with a customers file, and what to do about it. It never has a password or a hash in it. */
export interface CustomersFileProblem extends Advice {
  /** Counted from 1; `undefined` where the problem has no line, as with a missing file. */
  readonly line?: number | undefined
  /** Where in the data, as in `customers[2].password`; `undefined` for the file as a whole. */
  readonly field?: string | undefined
}

const shownProblems = 20

/**
 * A customers file cannot be read, understood, edited or written. The message is ready for a person: a line for each
 * problem with file, line, field, what is wrong and the remedy; it never shows a password or a hash.
 */
export class CustomersFileError extends SetupError {
  override readonly name = 'CustomersFileError'
  readonly path: string
  /** Ordered by line. */
  readonly problems: readonly CustomersFileProblem[]
  /** The lines of the message: one for each problem, and one more for those that are too many to be shown. */
  readonly lines: readonly string[]

  constructor(path: string, problems: readonly CustomersFileProblem[], cause?: unknown) {
    const placed = problems.map((problem) => placedIn(path, problem))
    const lines = linesOf(path, placed)
    const [first] = placed
    if (first !== undefined && placed.length === 1) super(first.problem, first.remedies, cause)
    else super(lines.join('\n'), [], cause)
    this.path = path
    this.problems = problems
    this.lines = lines
  }
}

function placedIn(path: string, { line, field, problem, remedies }: CustomersFileProblem): Advice {
  const place = line === undefined ? path : `${path}:${line}`
  const parts = [place, ...(field === undefined ? [] : [field]), problem]
  return { problem: parts.join(': '), remedies }
}

function linesOf(path: string, placed: readonly Advice[]): readonly string[] {
  const lines = placed.slice(0, shownProblems).map(adviceText)
  const more = placed.length - lines.length
  return [...lines, ...(more > 0 ? [`${path}: and ${more} more problems`] : [])]
}

/** The file was changed by others after it was opened; the same edit of the new file may succeed. */
export class OutdatedEditError extends CustomersFileError {
  constructor(path: string) {
    super(path, [advice('was changed by others meanwhile', 'nothing was written, try again')])
  }
}
