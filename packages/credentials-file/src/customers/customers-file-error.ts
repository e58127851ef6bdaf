/** One thing that is wrong with a customers file. */
export interface CustomersFileProblem {
  /** Counted from 1; `undefined` where the problem has no line, as with a missing file. */
  readonly line?: number | undefined
  /** Where in the data, as in `customers[2].password`; `undefined` for the file as a whole. */
  readonly field?: string | undefined
  /** What is wrong, and the remedy. Never a password or a hash. */
  readonly message: string
}

const shownProblems = 20

/**
 * A customers file cannot be read, understood, edited or written. The message is ready for a person: a line for each
 * problem with file, line, field, what is wrong and the remedy; it never shows a password or a hash.
 */
export class CustomersFileError extends Error {
  override readonly name = 'CustomersFileError'
  readonly path: string
  /** Ordered by line. */
  readonly problems: readonly CustomersFileProblem[]

  constructor(path: string, problems: readonly CustomersFileProblem[], cause?: unknown) {
    super(describe(path, problems), cause === undefined ? undefined : { cause })
    this.path = path
    this.problems = problems
  }
}

function describe(path: string, problems: readonly CustomersFileProblem[]): string {
  const lines = problems.slice(0, shownProblems).map(({ line, field, message }) => {
    const place = line === undefined ? path : `${path}:${line}`
    return [place, ...(field === undefined ? [] : [field]), message].join(': ')
  })
  const more = problems.length - lines.length
  return [...lines, ...(more > 0 ? [`${path}: and ${more} more problems`] : [])].join('\n')
}
