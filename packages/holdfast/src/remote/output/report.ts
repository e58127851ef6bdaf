import { isHoldfastError } from '@holdfast/client'
import { jsonLine, print, standardError, printable } from '../../terminal/print.ts'
import { exitCodeOf, reasonOf } from '../errors/explain.ts'
import { exitCodes, type ExitCode } from '../errors/command-error.ts'

/** The output of a verb. Each call writes a line. */
export interface Report {
  /** Reports what the user has requested: on standard output, with `--json` as JSON. */
  result(fields: object, text: string): Promise<void>
  /** Reports what was done: for people on standard error, with `--json` as JSON on standard output, whose reader may stop early. */
  done(fields: object, text: string): Promise<void>
  /** Reports what failed with the file `name`. The command continues, but its exit code is not 0. */
  failed(name: string, error: unknown): Promise<void>
  /** Writes a line for people to standard error. */
  note(text: string): void
  /** 0 if nothing failed; the code of the failures if they have the same; 1 for several codes. */
  exitCode(): ExitCode
}

/** @param writeLine writes a line for people; by default to standard error */
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

/** The API's error code, or the system's. */
function codeOf(error: unknown): string {
  if (isHoldfastError(error)) return error.code
  if (error instanceof Error && 'code' in error) return String(error.code)
  return exitCodeOf(error) === exitCodes.notFound ? 'not-found' : 'failed'
}
