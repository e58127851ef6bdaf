import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { nameFromPath, prefixFromPath } from '@holdfast/client'
import { compareUtf8 } from '@holdfast/core'

/** What is in a directory, with the name that the server has for it. */
export interface FoundEntry {
  readonly name: string
  /** Where it is, relative to the directory, with slashes. */
  readonly path: string
  /** Links and special files are never sent. */
  readonly kind: 'file' | 'symbolic link' | 'special file'
}

export interface WalkOptions {
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  readonly signal: AbortSignal
  /** Called for each directory and each name that cannot be read; the others follow. */
  readonly onUnread: (path: string, error: Error) => void
}

/** An entry of a directory that is being read. */
interface Candidate {
  /** No name that comes of it is before this. */
  readonly order: string
  readonly path: string
  readonly kind: FoundEntry['kind'] | 'directory'
}

/**
 * What is below a directory, in ascending order of the UTF-8 bytes of the names on the server. Holds the entries of those directories
 * that it is in, and no more. Never follows a link.
 *
 * @throws the signal's reason
 */
export async function* walkDirectory(
  directory: string,
  options: WalkOptions,
): AsyncGenerator<FoundEntry, void> {
  // Names of other entries may come between the names of a directory: "a - b" is after "a - a" and before "a - c".
  let open: Candidate[][] = [await readCandidates(directory, '', options)]
  while (true) {
    options.signal.throwIfAborted()
    open = open.filter((candidates) => candidates.length > 0)
    const next = open.reduce<Candidate[]>((a, b) => (isBefore(b, a) ? b : a), []).pop()
    if (next === undefined) return
    if (next.kind === 'directory') open.push(await readCandidates(directory, next.path, options))
    else yield { name: next.order, path: next.path, kind: next.kind }
  }
}

function isBefore(a: readonly Candidate[], b: readonly Candidate[]): boolean {
  const [x, y] = [a.at(-1), b.at(-1)]
  return x !== undefined && (y === undefined || compareUtf8(x.order, y.order) < 0)
}

/** The entries of a directory, the first one last. */
async function readCandidates(
  root: string,
  path: string,
  { into, onUnread }: WalkOptions,
): Promise<Candidate[]> {
  const candidates: Candidate[] = []
  const inFolder = (below: string) => (into === '' ? below : `${into}/${below}`)
  try {
    const place = join(root, path)
    for (const entry of await readdir(place, { withFileTypes: true, encoding: 'buffer' })) {
      const segment = decode(entry.name)
      const below = path === '' ? segment : `${path}/${segment}`
      if (segment.includes('\ufffd') && !Buffer.from(segment).equals(entry.name)) {
        onUnread(below, new Error('Its name is not UTF-8'))
        continue
      }
      const kind = kindOf(entry)
      const order = (kind === 'directory' ? prefixFromPath : nameFromPath)(inFolder(below))
      candidates.push({ order, path: below, kind })
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    onUnread(path === '' ? root : path, error)
    return []
  }
  return candidates.sort((a, b) => compareUtf8(b.order, a.order))
}

const decode = (name: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(name)

function kindOf(entry: Dirent<Buffer>): Candidate['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symbolic link' : 'special file'
}
