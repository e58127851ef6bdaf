import { fstatSync, write } from 'node:fs'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import pino, { type Logger, type LoggerOptions } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { killProcess } from '../process/kill-process.ts'
import { gatherLines } from './gather-lines.ts'
import { createLogWriter } from './log-writer.ts'
import { nonBlocking } from './non-blocking.ts'
import { prettyLine } from './pretty-line.ts'

/** Lines that the output does not take are dropped beyond this, so that they do not fill the memory. In bytes. */
const maxWaiting = 16 * 1024 * 1024

/**
 * Lines that come together are written together, whole lines of at most so many bytes: as many a pipe takes in one piece
 * (PIPE_BUF), also when other processes write into it. A file takes any number.
 */
const pipeWrite = 4096
const fileWrite = 64 * 1024

/** How long the end of a process waits for its last lines, in milliseconds. */
const lastLinesMs = 1_000

const writeTo = promisify(write)

/** Counts what is logged. */
export interface LogWatch {
  /** Called with pino's number of the level of each line. */
  readonly onLogLine: (level: number) => void
  /** Called with the number of lines that could not be written. */
  readonly onLogLinesDropped: (lines: number) => void
}

/** The log of a process that serves. */
export interface OpenLog {
  readonly log: Logger
  /** Waits for the last lines, for a second at most. */
  end(): Promise<unknown>
}

/**
 * Opens the log on standard output: lines of JSON, or, where the configuration says so, for people. Whatever happens to that, the process goes on: lines that cannot be written are dropped
 * and counted, and when lines are written again, a warning says how many are missing. An uncaught fault leaves the process
 * in no known state: it is logged, and the process ends; a supervisor starts it anew.
 */
export function openLog(config: Config, watch?: LogWatch): OpenLog {
  const output = nonBlocking(1)
  const writer = createLogWriter(async (bytes) => (await writeTo(output, bytes)).bytesWritten, {
    maxWaiting,
    onDropped: (lines) => watch?.onLogLinesDropped(lines),
    onRecovered: (lost) => log.warn({ lost }, 'The log is written again; lines are missing'),
  })
  const lines = gatherLines((text) => writer.write(text), isFile(1) ? fileWrite : pipeWrite)
  const log = pino(
    { level: config['log-level'], ...(watch && { hooks: { logMethod: counting(watch) } }) },
    inFormat(config['log-format'], lines),
  )
  const end = () => {
    lines.flush()
    return writer.end(lastLinesMs)
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      void end().then((isOver) => {
        if (isOver) process.exit(1)
        killProcess()
      })
    })
  }
  return { log, end }
}

interface LineTaker {
  write(line: string): void
}

function inFormat(format: Config['log-format'], lines: LineTaker): LineTaker {
  const isTerminal = isatty(1)
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal)
  if (!isPretty) return lines
  // https://no-color.org
  const isColored = isTerminal && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb'
  return { write: (line) => lines.write(prettyLine(line, isColored)) }
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

function counting({ onLogLine }: LogWatch): LogMethod {
  return function (args, write, level) {
    onLogLine(level)
    write.apply(this, args)
  }
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}
