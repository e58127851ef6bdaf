import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { usageError } from '../errors.ts'
import type { PathSelection } from '../selection.ts'
import type { Remote } from '../session.ts'
import { walkDirectory } from '../local-files.ts'

/** A file to upload. */
export interface FileToPut {
  /** `-` for standard input. */
  readonly path: string
  /** On the server. */
  readonly name: string
}

/**
 * The files at `paths`, with their names on the server.
 *
 * @throws CommandError without a path, and if a name is not clear
 */
export function filesToPut(paths: readonly string[], as: string | undefined): readonly FileToPut[] {
  const [first, second] = paths
  if (first === undefined) throw usageError('Say which file.')
  if (as !== undefined && second !== undefined) {
    throw usageError('--as is the name of one file, and there are several.')
  }
  if (as === '') throw usageError('--as "" is not a valid name.')
  const files = paths.map((path) => ({ path, name: as ?? nameOf(path) }))
  return files
}

/**
 * The files that `paths` name, and those in the directories among them, whose names on the server are made of the paths from the directory's
 * own name on. What is no file is skipped.
 */
export async function filesInDirectories(
  paths: readonly string[],
  selection: PathSelection,
  { report, signal }: Remote,
): Promise<readonly FileToPut[]> {
  if (paths.length === 0) throw usageError('Say which file or directory.')
  const files: FileToPut[] = []
  for (const path of paths) {
    const found = path === '-' ? undefined : await stat(path).catch(() => undefined)
    if (!found?.isDirectory()) {
      if (selection.isSelected(basename(path))) files.push({ path, name: nameOf(path) })
      continue
    }
    const own = basename(path)
    const failures: Promise<void>[] = []
    const entries = walkDirectory(path, {
      into: own === '.' || own === '..' ? '' : own,
      signal,
      isExcluded: selection.isExcluded,
      onUnread: (unread, error) => void failures.push(report.failed(unread, error)),
    })
    for await (const { name, path: below, kind } of entries) {
      if (kind === 'file') files.push({ path: join(path, below), name })
      else report.note(`${join(path, below)} is skipped: it is a ${kind}`)
    }
    await Promise.all(failures)
  }
  return files
}

function nameOf(path: string): string {
  if (path === '-') throw usageError('Give standard input a name on the server with --as.')
  return basename(path)
}

/** @throws CommandError if two files would have the same name on the server */
export function refuseSameNames(files: readonly FileToPut[]): void {
  const paths = new Map<string, string>()
  for (const { path, name } of files) {
    const other = paths.get(name)
    if (other !== undefined) {
      throw usageError(`${other} and ${path} would both be called "${name}"`, [
        'Upload one of them with --as.',
      ])
    }
    paths.set(name, path)
  }
}
