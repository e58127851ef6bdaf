import { folderTitle, foldersFromName, nameFromPath } from '@holdfast/client/browser'
import type { ViewedFile } from '../api/connection.ts'

/**
 * What the folder with this prefix shows: its files, and one entry for each folder in it, with the number and the size of all loaded
 * files below. The prefix of the outermost folder is ''.
 */
export function entriesOf(files: readonly ViewedFile[], prefix: string): FolderEntries {
  const own: ViewedFile[] = []
  const folders = new Map<string, FolderTotals>()
  for (const file of files) {
    const inner = innerFolder(file.name, prefix)
    if (inner === undefined) {
      own.push(file)
      continue
    }
    const totals = folders.get(inner) ?? { count: 0, size: 0, modified: '' }
    totals.count += 1
    totals.size += file.size
    if (file.modified > totals.modified) totals.modified = file.modified
    folders.set(inner, totals)
  }
  return { folders: [...folders].map(([inner, totals]) => folderEntry(inner, totals)), files: own }
}

export interface FolderEntries {
  readonly folders: readonly ViewedFile[]
  readonly files: readonly ViewedFile[]
}

interface FolderTotals {
  count: number
  size: number
  modified: string
}

/** The prefix of the folder in the folder `prefix` that a name is below; `undefined` if the name is directly in `prefix`. */
function innerFolder(name: string, prefix: string): string | undefined {
  const folders = foldersFromName(name)
  return prefix === '' ? folders[0] : folders[folders.indexOf(prefix) + 1]
}

function folderEntry(prefix: string, { count, size, modified }: FolderTotals): ViewedFile {
  const folder = { prefix, title: folderTitle(prefix), count }
  return { name: keyOf(prefix), size, modified, type: '', etag: '', folder }
}

/** Names have no `/`, so no file has the name of a folder's entry. */
const keyOf = (prefix: string) => `${prefix}/`

/** The files below the folder with this prefix, at any depth. */
export function filesBelow(files: readonly ViewedFile[], prefix: string): readonly ViewedFile[] {
  if (prefix === '') return files
  return files.filter(({ name }) => name.startsWith(prefix) && isBelow(name, prefix))
}

/** Not every name that begins with the prefix is below: `a - ` itself is a file beside the folder. */
const isBelow = (name: string, prefix: string) => foldersFromName(name).includes(prefix)

/** The files that are selected: by their own names, or by a folder above. */
export function selectedFiles(
  files: readonly ViewedFile[],
  selected: ReadonlySet<string>,
): readonly ViewedFile[] {
  if (selected.size === 0) return []
  const prefixes = selectedFolders(selected)
  const isSelected = ({ name }: ViewedFile) =>
    selected.has(name) || (prefixes.size > 0 && outermost(name, prefixes) !== undefined)
  return files.filter(isSelected)
}

/** What stays selected when these files are gone: not the folders around them, which would get what comes in their place. */
export function withoutFiles(
  selected: ReadonlySet<string>,
  names: readonly string[],
): ReadonlySet<string> {
  const left = new Set(selected)
  for (const name of names) {
    left.delete(name)
    for (const prefix of foldersFromName(name)) left.delete(keyOf(prefix))
  }
  return left
}

/** The prefixes of the folders among selected entries. */
export function selectedFolders(selected: ReadonlySet<string>): ReadonlySet<string> {
  const keys = [...selected].filter((name) => name.endsWith('/'))
  return new Set(keys.map((key) => key.slice(0, -1)))
}

const outermost = (name: string, prefixes: ReadonlySet<string>) =>
  foldersFromName(name).find((prefix) => prefixes.has(prefix))

/** The prefix of the folder around a folder; '' for an outermost one. */
export function parentOf(prefix: string): string {
  return foldersFromName(`${prefix}_`).at(-2) ?? ''
}

/** A folder, and all around it, from the outermost. */
export function crumbsOf(prefix: string): readonly FolderCrumb[] {
  if (prefix === '') return []
  return foldersFromName(`${prefix}_`).map((each) => ({ prefix: each, title: folderTitle(each) }))
}

interface FolderCrumb {
  readonly prefix: string
  readonly title: string
}

/** The titles of a folder and of those around it, with `/` between: `photos/2026`. */
export function pathOf(prefix: string): string {
  return crumbsOf(prefix)
    .map(({ title }) => title)
    .join('/')
}

/** The paths of all folders that the names show. */
export function folderPaths(files: readonly ViewedFile[]): readonly string[] {
  return [...new Set(files.flatMap(({ name }) => foldersFromName(name)))].map(pathOf).sort()
}

/** A file of this name in a folder: what an upload of the folder would be called. */
export function nameInFolder(prefix: string, name: string): string {
  return prefix === '' ? name : nameFromPath(`${pathOf(prefix)}/${name}`)
}

/**
 * The new name of a file that is moved to the folder at `path`, by itself or with one of the folders `moved`, which keeps its title. Without
 * `path`, to the outermost folder.
 */
export function movedName(name: string, moved: ReadonlySet<string>, path: string): string {
  const folders = foldersFromName(name)
  const folder = folders.find((prefix) => moved.has(prefix))
  const around = folder === undefined ? (folders.at(-1) ?? '') : parentOf(folder)
  return nameFromPath(`${path}/${name.slice(around.length)}`)
}

/** The new name of a file below the folder `prefix`, which gets another title. */
export function nameInRenamed(name: string, prefix: string, title: string): string {
  return nameFromPath(`${pathOf(parentOf(prefix))}/${title}/${name.slice(prefix.length)}`)
}

/** The part of the page's address for the folder with this prefix: `#/photos/2026`. */
export function hashOfFolder(prefix: string): string {
  return `#/${crumbsOf(prefix)
    .map(({ title }) => encodeURIComponent(title))
    .join('/')}`
}

/** The prefix of the folder in the page's address after `#`; '' if there is none. */
export function folderInHash(hash: string): string {
  if (!hash.startsWith('/') || hash === '/') return ''
  try {
    const name = nameFromPath(`${hash.split('/').map(decodeURIComponent).join('/')}/_`)
    return foldersFromName(name).at(-1) ?? ''
  } catch {
    // The address is not encoded as the page does.
    return ''
  }
}
