import type { ViewedFile } from '../api/connection.ts'

const folded = new WeakMap<ViewedFile, string>()

/**
 * The files whose names contain every word of `text`, ignoring case and accents. A word with `*` or `?` is a pattern for the whole name, such
 * as `*.pdf`. All names begin with `prefix`, which does not count.
 */
export function filterFiles(
  files: readonly ViewedFile[],
  text: string,
  prefix = '',
): readonly ViewedFile[] {
  const words = fold(text).split(/\s+/).filter(Boolean).map(matcherOf)
  if (words.length === 0) return files
  const start = fold(prefix).length
  return files.filter((file) => {
    const name = foldedName(file).slice(start)
    return words.every((matches) => matches(name))
  })
}

/** Whether a name contains `word`, or matches it as a pattern: `*` stands for any characters, `?` for one. */
function matcherOf(word: string): (name: string) => boolean {
  if (!/[*?]/.test(word)) return (name) => name.includes(word)
  // Between two stars the first place is as good as a later one, so that no text takes long.
  const [first = '', ...parts] = word
    .split(/\*+/)
    .map((part) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.'))
  const end = parts.pop()
  if (end === undefined) return (name) => new RegExp(`^${first}$`, 'su').test(name)
  const start = new RegExp(`^${first}`, 'su')
  const middle = parts.map((part) => new RegExp(part, 'su'))
  const last = new RegExp(`${end}$`, 'su')
  return (name) => {
    const begun = start.exec(name)
    if (!begun) return false
    let rest = name.slice(begun[0].length)
    for (const part of middle) {
      const found = part.exec(rest)
      if (!found) return false
      rest = rest.slice(found.index + found[0].length)
    }
    return last.test(rest)
  }
}

/** Filters as `filterFiles` does. If a text continues the last one, searches only the last result. */
export function createFilter(): typeof filterFiles {
  let last: {
    readonly files: readonly ViewedFile[]
    text: string
    found: readonly ViewedFile[]
  } = {
    files: [],
    text: '',
    found: [],
  }
  return (files, text, prefix) => {
    // A pattern that is longer may match more.
    const goesOn = files === last.files && text.startsWith(last.text) && !/[*?]/.test(text)
    last = { files, text, found: filterFiles(goesOn ? last.found : files, text, prefix) }
    return last.found
  }
}

/** Prepares the names, so that the first letter is found as fast as the others. */
export function prepareFilter(files: readonly ViewedFile[]): void {
  files.forEach(foldedName)
}

/** Cached, since each typed letter searches all names. */
function foldedName(file: ViewedFile): string {
  const known = folded.get(file)
  if (known !== undefined) return known
  const name = fold(file.name)
  folded.set(file, name)
  return name
}

function fold(text: string): string {
  // Most names need only their case folded.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}

export type Column = 'name' | 'size' | 'modified' | 'type'

export interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

type Compare = (one: ViewedFile, other: ViewedFile) => number

/** `files` in `order`; equal ones by name. Fast if most of them are in order already. */
export function sortFiles(
  files: readonly ViewedFile[],
  order: Order,
  language: string,
): ViewedFile[] {
  const { compare } = new Intl.Collator(language, { numeric: true })
  const byName: Compare = (one, other) => compare(one.name, other.name)
  const by: Readonly<Record<Column, Compare>> = {
    name: byName,
    size: (one, other) => one.size - other.size,
    modified: (one, other) => compareText(one.modified, other.modified),
    type: (one, other) => compareText(one.type, other.type),
  }
  const first = by[order.column]
  const sign = order.isDescending ? -1 : 1
  return [...files].sort((one, other) => sign * first(one, other) || byName(one, other))
}

const compareText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/** The order after a click on the head of `column`: new and large files first, names from A. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column) return { column, isDescending: !order.isDescending }
  return { column, isDescending: column === 'size' || column === 'modified' }
}
