import { fstatSync } from 'node:fs'
import pino, { type Logger, type LoggerOptions } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { gatherLines } from './gather-lines.ts'

/** Lines that nobody takes are dropped beyond this, rather than that the memory fills up. In bytes. */
const logBuffer = 16 * 1024 * 1024

/**
 * Lines that come together are written together, whole lines of at most so many bytes: as many a pipe takes in one piece
 * (PIPE_BUF), also when other processes write into it. A file takes any number.
 */
const pipeWrite = 4096
const fileWrite = 64 * 1024

/**
 * The log of a process that serves, on standard output. A fault that nobody caught leaves the process in no known
 * state: it is logged, and the process ends; whoever supervises it starts it anew. `onLine` is told of the level of each line.
 */
export function createLog(config: Config, onLine?: (level: number) => void): Logger {
  const maxWrite = isFile(1) ? fileWrite : pipeWrite
  const output = pino.destination({ fd: 1, maxLength: logBuffer, maxWrite })
  const lines = gatherLines(output, maxWrite)
  process.once('exit', () => lines.flushSync())
  const log = pino(
    { level: config['log-level'], ...(onLine && { hooks: { logMethod: telling(onLine) } }) },
    lines,
  )
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      process.exit(1)
    })
  }
  return log
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

function telling(onLine: (level: number) => void): LogMethod {
  return function (args, write, level) {
    onLine(level)
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
