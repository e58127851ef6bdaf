import { styleText } from 'node:util'
import { visible } from './visible.ts'

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
 * A line of the log for a person: the local time, the level, what happened, and the other fields as `name=value`; below it the
 * stack of an error. The process and the machine are left out. What a client has sent cannot command the terminal.
 *
 * @param line as pino writes it: an object of JSON and a line feed
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

/** As `2026-11-22 18:41:32.123`. */
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

/** A word as it is; all else as JSON. */
function written(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value)
  return visible(isWord ? value : JSON.stringify(value))
}

function stackOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return []
  const text = 'stack' in error ? String(error.stack) : JSON.stringify(error)
  return text.split('\n').map((line) => `    ${visible(line.trim())}`)
}
