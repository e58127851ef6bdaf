import { fstatSync, write } from 'node:fs'
import { isatty } from 'node:tty'
import { promisify, styleText } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import type { Logger, LoggerOptions } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { nonBlocking, countLines, createAppendLines, type WriteSome } from './lines.ts'
import { visible } from './visible.ts'

/** How many bytes of lines may wait for the output. Beyond this, lines are dropped, so that they do not fill the memory. */
const maxWaiting = 16 * 1024 * 1024

/**
 * How many bytes of whole lines are written together at most. A pipe keeps so many bytes together (PIPE_BUF), even when other
 * processes write to it. A file keeps any number together.
 */
const pipeWrite = 4096
const fileWrite = 64 * 1024

/** How long the end of a process waits for its last lines, in milliseconds. */
const lastLinesMs = 1_000

const writeTo = promisify(write)

/** Counts the lines of the log. */
export interface LogWatch {
  /** Called with pino's number of the level of each line. */
  readonly onLogLine: (level: number) => void
  /** Called with the number of lines that could not be written. */
  readonly onLogLinesDropped: (lines: number) => void
}

/** The log of a process that serves. */
export interface OpenLog {
  readonly log: Logger
  /** Waits for the last lines, at most for a second. */
  end(): Promise<unknown>
}

/**
 * Opens the log on standard output: lines of JSON, or, if the configuration says so, lines for people. If the output fails, the
 * process continues: lines that cannot be written are dropped and counted, and when lines are written again, a warning says how many
 * are missing. An uncaught error leaves the process in an unknown state: it is logged, and the process ends, so that a supervisor
 * can restart it.
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

/** Collects lines, and writes them a little later, in order. */
interface LineGatherer {
  write(line: string): void
  /** Writes the collected lines now. */
  flush(): void
}

/**
 * Writes the lines of one tick of the event loop together, whole lines of at most `maxBytes` at a time: each write wakes up a thread
 * of the pool, which takes longer than everything else about a line.
 */
export function gatherLines(write: (lines: string) => void, maxBytes: number): LineGatherer {
  let gathered = ''
  let bytes = 0
  const flush = () => {
    const text = gathered
    gathered = ''
    bytes = 0
    if (text !== '') write(text)
  }
  return {
    write(line) {
      const more = Buffer.byteLength(line)
      if (bytes + more > maxBytes) flush()
      if (gathered === '') setImmediate(flush)
      gathered += line
      bytes += more
    },
    flush,
  }
}

type Fields = Readonly<Record<string, unknown>>

const trace = { name: 'TRACE', style: 'gray' } as const
const levels = [
  { least: 60, name: 'FATAL', style: 'red' },
  { least: 50, name: 'ERROR', style: 'red' },
  { least: 40, name: 'WARN ', style: 'yellow' },
  { least: 30, name: 'INFO ', style: 'green' },
  { least: 20, name: 'DEBUG', style: 'gray' },
] as const

/**
 * A line of the log for a person: the local time, the level, the message, and the other fields as `name=value`; below it the stack of
 * an error. The process and the machine are omitted. Text from clients is escaped, so that it cannot control the terminal.
 *
 * @param line as pino writes it: a JSON object and a line feed
 */
export function prettyLine(line: string, isColored: boolean): string {
  const { level, time, pid: _pid, hostname: _hostname, msg, err, ...fields } = parse(line)
  const { name, style } = levelOf(Number(level))
  const shown = isColored ? styleText(style, name, { validateStream: false }) : name
  const { headline, rest } = msg === 'request' ? ofRequest(fields) : { headline: msg, rest: fields }
  const words = [localTime(Number(time)), shown, visible(String(headline)), ...pairs(rest)]
  return [words.join(' '), ...stackOf(err)].join('\n') + '\n'
}

function parse(line: string): Fields {
  return JSON.parse(line) as Fields
}

function levelOf(level: number) {
  return levels.find(({ least }) => level >= least) ?? trace
}

/** Such as `2026-11-22 18:41:32.123`. */
function localTime(time: number): string {
  const date = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, -1).replace('T', ' ')
}

function ofRequest({ method, path, status, durationMs, ...rest }: Fields) {
  const duration = typeof durationMs === 'number' ? `${durationMs}ms` : undefined
  const parts = [method, path, status, duration].filter((part) => part !== undefined)
  return { headline: parts.map(String).join(' '), rest }
}

function pairs(fields: Fields): readonly string[] {
  return Object.entries(fields).map(([name, value]) => `${name}=${written(value)}`)
}

/** A single word unchanged; any other value as JSON. */
function written(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value)
  return visible(isWord ? value : JSON.stringify(value))
}

function stackOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return []
  const text = 'stack' in error ? String(error.stack) : JSON.stringify(error)
  return text.split('\n').map((line) => `    ${visible(line.trim())}`)
}

interface LogWriterOptions {
  /** How many bytes may wait to be written; lines beyond that are dropped. */
  readonly maxWaiting: number
  /** Called when lines have been dropped. */
  readonly onDropped: (lines: number) => void
  /** Called when lines are written again after `lines` were dropped. */
  readonly onRecovered: (lines: number) => void
}

/** Writes lines in order and never fails: lines that cannot be written are dropped. */
interface LogWriter {
  /** Takes one or more whole lines. */
  write(lines: string): void
  /**
   * Resolves when all lines are written or dropped, at the latest after `limitMs`; it drops the remaining lines then. Resolves with
   * `false` if a write is still under way.
   */
  end(limitMs: number): Promise<boolean>
}

/** A {@link LogWriter} that writes by `writeSome`; it calls that again only after its promise has settled. */
export function createLogWriter(
  writeSome: WriteSome,
  { maxWaiting, onDropped, onRecovered }: LogWriterOptions,
): LogWriter {
  const append = createAppendLines()
  const waiting: Buffer[] = []
  const ending = new AbortController()
  let bytesWaiting = 0
  let lost = 0
  let writing: Promise<void> | undefined

  const drop = (lines: number) => {
    lost += lines
    onDropped(lines)
  }

  /** Writes `lines`; resolves with whether all of them were written. */
  const put = async (lines: Buffer): Promise<boolean> => {
    const { lines: whole, error } = await append(writeSome, lines, ending)
    if (error !== undefined) drop(countLines(lines) - whole)
    return error === undefined
  }

  const writeWaiting = async () => {
    for (let lines = waiting.shift(); lines; lines = waiting.shift()) {
      const isWritten = await put(lines)
      bytesWaiting -= lines.length
      // Wait until half of the room is free: otherwise a slow reader would cause a warning for each line that it takes.
      if (!isWritten || lost === 0 || bytesWaiting > maxWaiting / 2) continue
      const recovered = lost
      lost = 0
      onRecovered(recovered)
    }
    writing = undefined
  }

  return {
    write(lines) {
      const bytes = Buffer.from(lines)
      if (ending.signal.aborted || bytesWaiting + bytes.length > maxWaiting) {
        return drop(countLines(bytes))
      }
      waiting.push(bytes)
      bytesWaiting += bytes.length
      writing ??= writeWaiting()
    },
    async end(limitMs) {
      const timer = new AbortController()
      await Promise.race([writing, delay(limitMs, undefined, timer).catch(() => {})])
      timer.abort()
      const left = waiting.splice(0).reduce((lines, bytes) => lines + countLines(bytes), 0)
      if (left > 0) drop(left)
      ending.abort()
      // Writes that wait for a retry end now.
      await new Promise((resolve) => setImmediate(resolve))
      return writing === undefined
    },
  }
}

/**
 * Ends this process at once. An exit would wait for threads in a system call, such as a write to a socket that no one reads.
 */
export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
  // The first process of a container gets no signal that it could not have prevented.
  process.abort()
}
