import type { Dirent } from 'node:fs'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { nameFromPath, prefixFromPath } from '@holdfast/client'
import { compareUtf8, sortUtf8 } from '@holdfast/core'
import { isPartial } from '../get/partial-files.ts'
import { versionOf, type FileVersion } from './local-file.ts'

/** An entry of a directory, with its name on the server. */
export interface FoundEntry {
  readonly name: string
  /** The path relative to the directory, with slashes. */
  readonly path: string
  /** Links and special files are never sent. */
  readonly kind: 'file' | 'symbolic link' | 'special file'
}

export interface WalkOptions {
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  readonly signal: AbortSignal
  /** Whether a path is passed over; of a directory, with all that is in it. Default: none is. */
  readonly isExcluded?: (path: string, kind: 'file' | 'directory') => boolean
  /** Called for each directory and each name that cannot be read; the walk continues. */
  readonly onUnread: (path: string, error: Error) => void
}

/** A directory that is being read. */
interface OpenDirectory {
  readonly path: string
  /**
   * The remaining entries, the first one last. An entry is one string, since there may be millions: the sort key (no name that comes of
   * the entry is before it), NUL, its kind, and its name.
   */
  readonly entries: string[]
}

const kinds = { d: 'directory', f: 'file', l: 'symbolic link', s: 'special file' } as const
type KindLetter = keyof typeof kinds

/**
 * Yields what is below a directory, without downloads that have not ended, in ascending order of the UTF-8 bytes of the names on the server. Holds in memory only the names of
 * the directories that it is in. Never follows a link.
 *
 * @throws the signal's reason
 */
export async function* walkDirectory(
  directory: string,
  options: WalkOptions,
): AsyncGenerator<FoundEntry, void> {
  const root = await realpath(directory).catch(() => directory)
  // Names of other entries may come between the names of a directory: "a - b" is after "a - a" and before "a - c".
  let open = [await readEntries(root, '', options)]
  while (true) {
    options.signal.throwIfAborted()
    open = open.filter(({ entries }) => entries.length > 0)
    const [first, ...others] = open
    if (first === undefined) return
    const next = others.reduce((a, b) => (isBefore(b, a) ? b : a), first)
    const { order, kind, path } = parse(next.entries.pop() ?? '', next.path)
    if (kind === 'directory') open.push(await readEntries(root, path, options))
    else yield { name: order, path, kind }
  }
}

function isBefore({ entries: a }: OpenDirectory, { entries: b }: OpenDirectory): boolean {
  return compareUtf8(a.at(-1) ?? '', b.at(-1) ?? '') < 0
}

function parse(entry: string, directory: string) {
  const end = entry.indexOf('\0')
  const name = entry.slice(end + 2)
  return {
    order: entry.slice(0, end),
    kind: kinds[entry.charAt(end + 1) as KindLetter],
    path: pathIn(directory, name),
  }
}

const pathIn = (directory: string, name: string) =>
  directory === '' ? name : `${directory}/${name}`

async function readEntries(
  root: string,
  path: string,
  { into, onUnread, isExcluded = () => false }: WalkOptions,
): Promise<OpenDirectory> {
  const entries: string[] = []
  const fullPath = join(root, path)
  try {
    for await (const entry of await opendir(fullPath, { bufferSize: 1024 })) {
      const below = pathIn(path, entry.name)
      if (entry.name.includes('\ufffd') && !(await isThere(join(fullPath, entry.name)))) {
        onUnread(below, new Error('Its name is not UTF-8'))
        continue
      }
      const kind = kindOf(entry)
      if (isPartial(entry.name) || isExcluded(below, kind === 'd' ? 'directory' : 'file')) continue
      const order = (kind === 'd' ? prefixFromPath : nameFromPath)(pathIn(into, below))
      entries.push(`${order}\0${kind}${entry.name}`)
    }
    // It may have been replaced since its entry was read.
    if ((await realpath(fullPath)) !== fullPath) throw new Error('It is now a symbolic link')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    onUnread(path === '' ? root : path, error)
    return { path, entries: [] }
  }
  return { path, entries: sortUtf8(entries).reverse() }
}

/** Whether `path` exists. Bytes that are not UTF-8 were read as replacement characters, so such a path does not. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function kindOf(entry: Dirent): KindLetter {
  if (entry.isFile()) return 'f'
  if (entry.isDirectory()) return 'd'
  return entry.isSymbolicLink() ? 'l' : 's'
}

/** An entry of a directory, with the current state of its file. */
export interface FoundFile extends FoundEntry {
  /** Left out if it is no file any more. */
  readonly now?: FileVersion
  /** Why the state cannot be found out. */
  readonly error?: unknown
}

const inspectedAtOnce = 64

/** Inspects the files, several at a time, in their order. */
export async function* inspectFiles(
  directory: string,
  entries: AsyncIterable<FoundEntry>,
): AsyncGenerator<FoundFile, void> {
  let waiting: Promise<FoundFile>[] = []
  for await (const entry of entries) {
    waiting.push(inspectEntry(directory, entry))
    if (waiting.length < inspectedAtOnce) continue
    yield* await Promise.all(waiting)
    waiting = []
  }
  yield* await Promise.all(waiting)
}

async function inspectEntry(directory: string, entry: FoundEntry): Promise<FoundFile> {
  if (entry.kind !== 'file') return entry
  try {
    const now = await versionOf(join(directory, entry.path))
    return now ? { ...entry, now } : entry
  } catch (error) {
    return { ...entry, error }
  }
}
