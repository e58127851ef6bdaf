import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { usageError, CommandError, exitCodes } from '../errors/command-error.ts'
import { isPattern } from '../names/match-pattern.ts'

/** A path of this machine. */
export interface Place {
  readonly directory: string
  readonly base: string
}

/** Where a file goes. */
export interface Target extends Place {
  /** Whether the user has said this very path, and not only the name on the server. */
  readonly isNamed: boolean
}

export interface Targets {
  /** They are all in it. */
  readonly directory: string
  of(name: string): Target
}

/**
 * Where the files go that `words` mean.
 *
 * @param output as given with `-o`: a directory, or the path of one file
 * @throws CommandError where several files would go to one path
 */
export async function createTargets(
  output: string | undefined,
  words: readonly string[],
  isLiteral: boolean,
): Promise<Targets> {
  const path = output ?? '.'
  // Made only where that is clearly meant.
  if (path.endsWith('/')) await mkdir(path, { recursive: true })
  if (await isDirectory(path)) {
    return {
      directory: path,
      of: (name) => ({ directory: path, base: localName(name), isNamed: false }),
    }
  }
  const [word, second] = words
  if (second !== undefined || (!isLiteral && word !== undefined && isPattern(word))) {
    throw usageError(`${path} is no directory, and there may be several files`, [
      `Make it, or write ${path}/.`,
    ])
  }
  const directory = dirname(path)
  return { directory, of: () => ({ directory, base: basename(path), isNamed: true }) }
}

export function pathOf({ directory, base }: Place): string {
  return join(directory, base)
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}

/** What Windows takes for a device, or cannot have in a name. */
const notOnWindows = /[<>:"/\\|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * What the file `name` of a server is called in a directory of this machine: the same.
 *
 * @throws CommandError for a name that leads elsewhere, whatever the server says
 */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const leadsElsewhere = name === '' || name === '.' || name === '..' || /[/\0]/.test(name)
  if (!leadsElsewhere && !(platform === 'win32' && notOnWindows.test(name))) return name
  throw new CommandError(
    exitCodes.failed,
    'No file of this machine can have that name; say one with -o.',
  )
}
