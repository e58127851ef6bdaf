import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { usageError } from '../errors/command-error.ts'
import { isPattern } from '../names/match-pattern.ts'
import { localName } from './local-name.ts'

/** Where a file goes. */
export interface Target {
  readonly directory: string
  readonly base: string
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
    return { directory: path, of: (name) => ({ directory: path, base: localName(name) }) }
  }
  const [word, second] = words
  if (second !== undefined || (!isLiteral && word !== undefined && isPattern(word))) {
    throw usageError(`${path} is no directory, and there may be several files`, [
      `Make it, or write ${path}/.`,
    ])
  }
  const directory = dirname(path)
  return { directory, of: () => ({ directory, base: basename(path) }) }
}

/** The path of a target. */
export function pathOf({ directory, base }: Target): string {
  return join(directory, base)
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
