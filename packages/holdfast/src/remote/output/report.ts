import { isHoldfastError } from '@holdfast/client'
import { jsonLine, print, standardError, printable } from '../../terminal/print.ts'
import { exitCodeOf, reasonOf } from '../errors/explain.ts'
import { exitCodes, type ExitCode } from '../errors/command-error.ts'

/** What a verb says. Each call is a line. */
export interface Report {
  /** What was asked for: on standard output, with `--json` as JSON. */
  result(fields: object, text: string): Promise<void>
  /** What was done: for people on standard error, with `--json` as JSON on standard output, whose reader may stop before all is done. */
  done(fields: object, text: string): Promise<void>
  /** What could not be done with the file `name`. The command goes on, and its exit code is another. */
  failed(name: string, error: unknown): Promise<void>
  /** For people, on standard error. */
  note(text: string): void
  /** 0 if nothing failed; the code of what failed, if that is one; 1 for several. */
  exitCode(): ExitCode
}

/** @param writeLine where lines for people go; by default standard error */
export function createReport(
  isJson: boolean,
  writeLine: (line: string) => void = (line) => void standardError().write(`${line}\n`),
): Report {
  const codes = new Set<ExitCode>()
  const forPeople = (text: string) => writeLine(printable(text))
  const printJson = (fields: object) => print(jsonLine(fields))
  return {
    result: (fields, text) => (isJson ? printJson(fields) : print(`${text}\n`)),
    async done(fields, text) {
      if (isJson) await printJson(fields)
      else forPeople(text)
    },
    async failed(name, error) {
      codes.add(exitCodeOf(error))
      const message = reasonOf(error, name)
      if (isJson) await printJson({ name, error: { code: codeOf(error), message } })
      else forPeople(`holdfast: ${name}: ${message}`)
    },
    note: (text) => forPeople(`holdfast: ${text}`),
    exitCode() {
      const [first, second] = codes
      return second === undefined ? (first ?? exitCodes.done) : exitCodes.failed
    },
  }
}

/** The API's code, or that of the system. */
function codeOf(error: unknown): string {
  if (isHoldfastError(error)) return error.code
  if (error instanceof Error && 'code' in error) return String(error.code)
  return exitCodeOf(error) === exitCodes.notFound ? 'not-found' : 'failed'
}
