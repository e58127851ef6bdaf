import { styleText } from 'node:util'
import { SetupError, formatBytes } from '@holdfast/core'
import { visible } from '@holdfast/server/visible'

/** Standard output cannot be written, but its reader has not stopped. */
export class UnwritableError extends SetupError {
  override readonly name = 'UnwritableError'
}

let isOutputGuarded = false

/**
 * Writes to standard output and waits for it. Rejects if it cannot be written: with `EPIPE` if the reader has stopped, with an
 * `UnwritableError` otherwise, such as on a full disk. Without this, Node would end the process with a stack trace.
 */
export async function print(content: string | Uint8Array): Promise<void> {
  // The event may come before or after the callback, and would throw without a listener.
  if (!isOutputGuarded) process.stdout.on('error', () => {})
  isOutputGuarded = true
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  process.stdout.write(content, (error) => (error ? reject(explain(error)) : resolve(undefined)))
  await promise
}

function explain(error: Error): Error {
  if (isReaderGone(error)) return error
  return new UnwritableError(`Standard output cannot be written (${error.message}).`)
}

/** Whether standard output failed because its reader has stopped, as `head` does: that is no error for the user. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

let isErrorGuarded = false

/**
 * Standard error, for messages to people. If it cannot be written (`2>/dev/full`, a reader that has stopped), the messages are
 * lost and the command continues. Without this, Node would end the process.
 */
export function standardError(): NodeJS.WriteStream {
  if (!isErrorGuarded) process.stderr.on('error', () => {})
  isErrorGuarded = true
  return process.stderr
}

/** A name for standard output: unchanged for programs; on a terminal without characters that it would obey, hide or reverse. */
export function shown(name: string): string {
  return process.stdout.isTTY ? visible(name) : name
}

/** A value as one line of JSON. Escapes characters that a terminal would obey, hide or reverse; programs read the same text. */
export function jsonLine(value: unknown, space?: number): string {
  const text = JSON.stringify(value, undefined, space)
  // Lines of JSON itself end with a line feed; one within a text is escaped already.
  return `${text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, escape)}\n`
}

/** Escapes each UTF-16 unit of a character. */
function escape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index).toString(16)
    return `\\u${code.padStart(4, '0')}`
  }).join('')
}

type Colour = 'magenta' | 'cyan' | 'red' | 'green'

/** What names end with, by the kind of the file, as `ls` of GNU colours them. */
const kinds: readonly (readonly [colour: Colour, ending: RegExp])[] = [
  [
    'magenta',
    /\.(avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp|avi|m4v|mkv|mov|mp4|mpe?g|webm)$/i,
  ],
  ['cyan', /\.(aac|flac|m4a|mid|mp3|ogg|opus|wav)$/i],
  ['red', /\.(7z|bz2|deb|gz|iso|jar|rar|rpm|tar|tgz|txz|xz|zip|zst)$/i],
]

/** The text of a name for standard output, in the colour of its kind, where that is a terminal and `NO_COLOR` is not set. */
export function colouredName(name: string, text: string): string {
  const [colour] = kinds.find(([, ending]) => ending.test(name)) ?? []
  return colour === undefined ? text : styleText(colour, text, { stream: process.stdout })
}

/** The beginning of a failure for standard error, in red where that is a terminal and `NO_COLOR` is not set. */
export function failureMark(): string {
  return styleText('red', 'holdfast:', { stream: standardError() })
}

/** Where progress is shown, such as standard error. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** How progress is shown. */
interface ProgressMode {
  /** `false` where there is no terminal, as in a log. */
  readonly isShown: boolean
  /** Whether it is redrawn in place, and not written as one plain line after the other. */
  readonly isRedrawn: boolean
  /** Milliseconds between two updates. */
  readonly intervalMs: number
}

const redrawnMs = 200

/**
 * How to show progress on `output`: redrawn, or, if the environment asks for plain output (`NO_COLOR`, `TERM=dumb`), as plain lines.
 *
 * @param options `plainMs`: milliseconds between two plain lines; `isQuiet`: whether to show none
 */
export function progressMode(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
  { plainMs, isQuiet = false }: { readonly plainMs: number; readonly isQuiet?: boolean },
): ProgressMode {
  const isPlain = Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb'
  const isShown = output.isTTY === true && !isQuiet
  const isRedrawn = isShown && !isPlain
  return { isShown, isRedrawn, intervalMs: isRedrawn ? redrawnMs : plainMs }
}

/** Progress in one line. */
export interface StatusLine {
  /** Writes a separate line above the progress. */
  readonly note: (line: string) => void
  /** Shows the last progress, which stays, and nothing afterwards. */
  readonly end: () => void
  /** Removes the progress, and shows nothing afterwards. */
  readonly erase: () => void
}

const eraseLine = '\r\u001b[K'

/**
 * Shows progress in one line until it ends.
 *
 * @param lineOf makes the line: of at most `width` characters, for a plain line (`undefined`) of any length. Called at each update;
 * `undefined` leaves it out.
 */
export function createStatusLine(
  output: ProgressOutput,
  { isShown, isRedrawn, intervalMs }: ProgressMode,
  lineOf: (width: number | undefined) => string | undefined,
): StatusLine {
  const show = () => {
    // A character in the last column makes some terminals begin a new line.
    const line = isShown ? lineOf(isRedrawn ? (output.columns || 80) - 1 : undefined) : undefined
    if (line === undefined) return false
    output.write(isRedrawn ? `${eraseLine}${line}` : `${line}\n`)
    return true
  }
  const timer = setInterval(show, intervalMs)
  return {
    note: (line) => void output.write(isRedrawn ? `${eraseLine}${line}\n` : `${line}\n`),
    end() {
      clearInterval(timer)
      if (show() && isRedrawn) output.write('\n')
    },
    erase() {
      clearInterval(timer)
      if (isRedrawn) output.write(eraseLine)
    },
  }
}

/** A time with its two largest units: `8s`, `1m 05s`, `26h 10m`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m ${two(whole % 60)}s`
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
}

/** A time of the API in the local time zone, to the minute: `2026-11-23 17:05`. */
export function localTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '-'
  const two = (value: number) => `${value}`.padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** A size for people, and exactly: `2.15 GB (2147483648 bytes)`. */
export function sizeWithBytes(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`
}
