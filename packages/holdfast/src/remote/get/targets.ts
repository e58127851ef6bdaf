import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { closeSync, constants, fstatSync, openSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { visible } from '@holdfast/server/visible'
import { usageError, CommandError, exitCodes } from '../errors.ts'
import { makeDirectories } from './receive-file.ts'
import { isPartial, pathOf, type LocalPath } from './partial-files.ts'
import { isPattern } from '../selection.ts'
import { confirm, isTerminal } from '../../terminal/ask.ts'
import type { Screen } from '../screen.ts'

/** Where a file is written. */
export interface Target extends LocalPath {
  /** Whether the user has named this very path, and not only the name on the server. */
  readonly isNamed: boolean
}

export interface Targets {
  /** The directory of all targets. */
  readonly directory: string
  of(name: string): Target
}

/**
 * The targets of the files that `words` mean.
 *
 * @param output as given with `-o`: a directory, or the path of one file
 *
 * @throws CommandError where several files would have one path
 */
export async function createTargets(
  output: string | undefined,
  words: readonly string[],
  isLiteral: boolean,
): Promise<Targets> {
  const path = output ?? '.'
  // Made only where a directory is clearly meant.
  if (path.endsWith('/')) await makeDirectories(path)
  if (await isDirectory(path)) {
    return {
      directory: path,
      of: (name) => ({ directory: path, base: localName(name), isNamed: false }),
    }
  }
  const [word, second] = words
  if (second !== undefined || (!isLiteral && word !== undefined && isPattern(word))) {
    throw usageError(`${path} is not a directory, and there may be several files`, [
      `Make it, or write ${path}/.`,
    ])
  }
  const directory = dirname(path)
  return { directory, of: () => ({ directory, base: basename(path), isNamed: true }) }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

/** Names that Windows takes for devices, or does not allow. */
const notOnWindows = /[<>:"/\\|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * The local name of the file `name` of a server: the same name.
 *
 * @throws CommandError for a name that leads out of the directory, whatever the server says
 */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  if (isLocalName(name, platform)) return name
  throw new CommandError(
    exitCodes.failed,
    'No file on this machine can have that name; choose another with -o.',
  )
}

/**
 * Whether a file of a server may have that name in a directory. It may not have the name of a partial file: a later command would take its
 * content for the beginning of a download.
 */
export function isLocalName(name: string, platform: NodeJS.Platform = process.platform): boolean {
  const leadsElsewhere = name === '' || name === '.' || name === '..' || /[/\0]/.test(name)
  if (leadsElsewhere || isPartial(name)) return false
  return platform !== 'win32' || !notOnWindows.test(name)
}

/** Decides whether one file of this machine may be replaced. */
export interface ReplacePermission {
  /** Whether the user must still be asked. */
  readonly mustAsk: boolean
  /**
   * Asks the user.
   *
   * @throws CommandError if the answer is no
   */
  ask(): Promise<void>
}

/** Users who name only a file of the server may not know what is here, so they are asked. */
export interface ReplacePermissions {
  of(target: Target, signal: AbortSignal): ReplacePermission
}

/** @param isForced whether all files may be replaced */
export function createReplacePermissions(
  isForced: boolean,
  screen: Pick<Screen, 'hold'>,
): ReplacePermissions {
  const hasTerminal = isTerminal()
  // One question at a time.
  let last = Promise.resolve()
  const decide = async (path: string, signal: AbortSignal) => {
    signal.throwIfAborted()
    const question = `Replace ${visible(path)} by the file of the server?`
    if (await screen.hold(() => confirm(question, signal))) return
    throw new CommandError(exitCodes.failed, 'The file was not replaced.')
  }
  return {
    of(target, signal) {
      const path = pathOf(target)
      let mustAsk = !(isForced || target.isNamed)
      return {
        get mustAsk() {
          return mustAsk
        },
        async ask() {
          if (!hasTerminal) {
            const problem = `There is another file here, ${path}. --force replaces it.`
            throw new CommandError(exitCodes.failed, problem)
          }
          const answered = last.then(() => decide(path, signal))
          last = answered.catch(() => {})
          await answered
          mustAsk = false
        },
      }
    },
  }
}

const chunkSize = 256 * 1024

/** Whether the file at `path`, if there is one, has other content than the open `file`. */
export async function hasOtherContent(file: number, path: string): Promise<boolean> {
  const other = openIfThere(path)
  if (other === undefined) return false
  try {
    const [own, found] = [fstatSync(file), fstatSync(other)]
    // Another command for the same file was faster.
    if (own.ino === found.ino && own.dev === found.dev) return false
    if (!found.isFile() || own.size !== found.size) return true
    for (let at = 0; at < own.size;) {
      const [one, two] = await Promise.all([file, other].map((each) => bytesAt(each, at)))
      if (!one || !two || one.length === 0 || !one.equals(two)) return true
      at += one.length
    }
    return false
  } finally {
    closeSync(other)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    // A pipe would keep the whole process waiting for a writer, signals included.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const readFrom = promisify(read)

async function bytesAt(file: number, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkSize)
  let filled = 0
  while (filled < chunkSize) {
    const rest = chunkSize - filled
    const { bytesRead } = await readFrom(file, buffer, filled, rest, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}
