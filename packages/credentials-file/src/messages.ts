import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { advice, rangeErrorOf } from '@holdfast/core'

const { R_OK, W_OK, X_OK } = constants

/** System calls that need a permission on the parent directory. */
const changesOfDirectory = ['mkdir', 'rename', 'link', 'unlink', 'rmdir']

/**
 * Explains a denied access, from an error of Node with a path:
 * `uid 998, gid 998 may not write to /srv, which belongs to uid 0, gid 0 and has mode 0755`. It names the first directory of the
 * path that denies the access. `undefined` for every other error, and for denials with another reason.
 */
export function describeDenial(error: unknown): string | undefined {
  if (!isDenial(error)) return undefined
  const path = resolve(error.path)
  const way = waysTo(path)
  const closed = way.find((directory) => !may(directory, X_OK))
  if (closed !== undefined) return denial('enter', closed)
  if (exists(path) && !changesOfDirectory.includes(error.syscall ?? '')) {
    if (!may(path, R_OK)) return denial('read', path)
    if (!may(path, W_OK)) return denial('write to', path)
  }
  const parent = way.at(-1)
  return parent === undefined || may(parent, W_OK) ? undefined : denial('write to', parent)
}

interface Denial extends Error {
  readonly path: string
  readonly syscall?: string
}

function isDenial(error: unknown): error is Denial {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EACCES' || error.code === 'EPERM') &&
    'path' in error &&
    typeof error.path === 'string' &&
    process.platform !== 'win32'
  )
}

/** The existing directories of `path`, from the root on. */
function waysTo(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...waysTo(parent), parent].filter(exists)
}

/** Whether `path` exists; also `false` if a directory above it may not be entered. */
function exists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch {
    return false
  }
}

function may(path: string, wish: number): boolean {
  try {
    accessSync(path, wish)
    return true
  } catch {
    return false
  }
}

function denial(verb: string, path: string): string {
  const { uid, gid, mode } = statSync(path)
  const octal = (mode & 0o7777).toString(8).padStart(4, '0')
  return `uid ${process.getuid?.()}, gid ${process.getgid?.()} may not ${verb} ${path}, which belongs to uid ${uid}, gid ${gid} and has mode ${octal}`
}

/**
 * The command by which the reader of a message starts the program: `holdfast`, unless the script that started it has set another one
 * in `HOLDFAST_COMMAND`, as `scripts/start` of a clone does.
 */
export function programName(): string {
  return process.env['HOLDFAST_COMMAND'] || 'holdfast'
}

/** The longest value of a header in bytes: servers and proxies accept at least 8 KiB for all headers together. */
const maxBytes = 4096

const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * Why `text` cannot be the value of a header (RFC 9110 §5.5), so that a customer could never log in with it: the end of a
 * sentence whose subject is `text`. `undefined` if it can.
 */
export function headerProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (controlCharacter.test(text)) {
    return 'has a line break or another control character in it, which no header can carry'
  }
  if (/^[ \t]|[ \t]$/.test(text)) {
    return 'begins or ends with a space, which HTTP takes off every header'
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) return `has ${bytes} bytes, and ${maxBytes} is the most for a header`
  return undefined
}

/** The receiver of a customer's own events. */
export interface CustomerWebhook {
  readonly url: string
  /** One secret of Standard Webhooks by which events are signed, or two while it is changed. */
  readonly secrets: readonly string[]
}

/**
 * The URL of a receiver of events, as it is requested.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for anything but `http:` or `https:`, and for a name, a password or a fragment
 */
export function parseReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isHttp && url.hash === '' && url.username === '' && url.password === '') return url.href
  throw rangeErrorOf(
    advice(
      'is not the URL of a receiver',
      'write https://host/path, without a name, a password and a #',
    ),
  )
}

/** How many bytes a key must have, by Standard Webhooks. */
const keySizes = { least: 24, most: 64 }

/**
 * The secrets in a text: one, or two with a space between.
 *
 * @throws RangeError with its remedy (see `adviceOf`), and never with the text, for what is not as Standard Webhooks has it
 */
export function parseWebhookSecrets(text: string): readonly string[] {
  const secrets = text.trim().split(/ +/)
  if (secrets.length <= 2 && secrets.every(isSecret)) return secrets
  throw rangeErrorOf(
    advice(
      'is not one',
      `write whsec_ and ${keySizes.least} to ${keySizes.most} random bytes in Base64; two of them, with a space between, while one is changed.`,
    ),
  )
}

function isSecret(text: string): boolean {
  const [, encoded] = /^whsec_(.+)$/.exec(text) ?? []
  if (encoded === undefined) return false
  const key = Buffer.from(encoded, 'base64')
  return (
    key.length >= keySizes.least &&
    key.length <= keySizes.most &&
    key.toString('base64') === encoded
  )
}
