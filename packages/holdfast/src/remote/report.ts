import { formatBytes } from '@holdfast/core'
import { isHoldfastError } from '@holdfast/client'
import { visible } from '@holdfast/server/visible'
import { jsonLine, print, standardError, failureMark } from '../terminal/print.ts'
import { exitCodeOf, reasonOf, exitCodes, type ExitCode } from './errors.ts'

/** The output of a verb. Each call writes a line. */
export interface Report {
  /** Reports what the user has requested: on standard output, with `--json` as JSON. */
  result(fields: object, text: string): Promise<void>
  /** Reports a difference that the user has asked for: like a result, but the exit code is not 0. */
  difference(fields: object, text: string): Promise<void>
  /** Reports what was done: for people on standard error, with `--json` as JSON on standard output, whose reader may stop early. Quiet: only as JSON. */
  done(fields: object, text: string): Promise<void>
  /** Reports what failed with the file `name`. The command continues, but its exit code is not 0. */
  failed(name: string, error: unknown): Promise<void>
  /** Sums up at the end, for people only. */
  total(text: string): void
  /** Says something of interest to people, on standard error. Quiet: nothing. */
  inform(text: string): void
  /** Says what people should look at, on standard error, also when quiet. */
  note(text: string): void
  /** 0 if nothing failed; the code of the failures if they have the same; 1 for several codes. */
  exitCode(): ExitCode
}

export interface ReportOptions {
  readonly isJson: boolean
  /** Whether only failures and results are reported. Default: no. */
  readonly isQuiet?: boolean
}

/** @param writeLine writes a line for people; by default to standard error */
export function createReport(
  { isJson, isQuiet = false }: ReportOptions,
  writeLine: (line: string) => void = (line) => void standardError().write(`${line}\n`),
): Report {
  const codes = new Set<ExitCode>()
  const forPeople = (text: string) => writeLine(visible(text))
  const printJson = (fields: object) => print(jsonLine(fields))
  const result = (fields: object, text: string) => (isJson ? printJson(fields) : print(`${text}\n`))
  return {
    result,
    async difference(fields, text) {
      codes.add(exitCodes.failed)
      await result(fields, text)
    },
    async done(fields, text) {
      if (isJson) await printJson(fields)
      else if (!isQuiet) forPeople(text)
    },
    async failed(name, error) {
      codes.add(exitCodeOf(error))
      const message = reasonOf(error, name)
      if (isJson) await printJson({ name, error: { code: codeOf(error), message } })
      else writeLine(`${failureMark()} ${visible(`${name}: ${message}`)}`)
    },
    total(text) {
      if (!isJson && !isQuiet) forPeople(text)
    },
    inform(text) {
      if (!isQuiet) forPeople(`holdfast: ${text}`)
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

/** Counts files and their bytes, to sum up. */
export interface Total {
  add(bytes: number): void
  /** Such as `3 files, 2.1 MB`; `undefined` for less than two, of which the lines say all. */
  text(): string | undefined
}

export function createTotal(): Total {
  let files = 0
  let sum = 0
  return {
    add(bytes) {
      files++
      sum += bytes
    },
    text: () => (files < 2 ? undefined : `${files} files, ${formatBytes(sum)}`),
  }
}
