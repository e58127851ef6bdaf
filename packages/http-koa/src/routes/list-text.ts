import { compareUtf8, type CustomerFiles, type ListOptions } from '@holdfast/core'
import { problems } from '../errors/problem.ts'
import type { ListReader } from './list-reader.ts'

/** How files are listed: by their names, or with details. */
export interface EntryKind<Entry> {
  readonly list: (files: CustomerFiles, options: ListOptions) => AsyncIterable<readonly Entry[]>
  readonly nameOf: (entry: Entry) => string
  /** What the text has of an entry, before it becomes JSON. */
  readonly show: (entry: Entry) => unknown
}

export interface ListRequest {
  readonly files: CustomerFiles
  readonly options: ListOptions
  readonly reader: ListReader
  /** Called with the last name, before the first text, if the limit has cut the list there. */
  readonly linkNext: (last: string) => void
}

/** The longest page, in entries, that is held in memory. */
const longestHeld = 1000

/** The text of a list, a JSON array. @throws HttpProblem `No files uploaded yet` */
export async function* listText<Entry>(
  { files, options, reader, linkNext }: ListRequest,
  kind: EntryKind<Entry>,
): AsyncGenerator<string> {
  const { limit, ...unlimited } = options
  const whenEmpty = () => {
    if (options.after === undefined && options.prefix === undefined) throw problems.noFilesYet()
    return '[]'
  }
  if (limit === undefined) {
    yield* jsonArray(reader.read(kind.list(files, unlimited)), kind, whenEmpty)
    return
  }
  if (limit <= longestHeld) {
    const entries: Entry[] = []
    const oneMore = { ...options, limit: limit + 1 }
    for await (const page of reader.read(kind.list(files, oneMore))) entries.push(...page)
    const last = entries[limit - 1]
    if (last !== undefined && entries.length > limit) linkNext(kind.nameOf(last))
    yield entries.length > 0 ? textOf(entries.slice(0, limit), kind) : whenEmpty()
    return
  }
  // The header comes before the entries, and they may be too many to be held: so they are listed twice.
  const last = await findLast(options, limit, (some) => reader.read(files.list(some)))
  if (last !== undefined) linkNext(last)
  const entries = reader.read(kind.list(files, unlimited))
  yield* jsonArray(last === undefined ? entries : upTo(last, entries, kind), kind, whenEmpty)
}

/** The name at which `limit` cuts the list; `undefined` if there are not more names. */
async function findLast(
  options: ListOptions,
  limit: number,
  read: (options: ListOptions) => AsyncIterable<readonly string[]>,
): Promise<string | undefined> {
  const oneMore = Math.min(limit + 1, Number.MAX_SAFE_INTEGER)
  let left = limit
  let last: string | undefined
  for await (const page of read({ ...options, limit: oneMore })) {
    last = page[Math.min(left, page.length) - 1] ?? last
    left -= page.length
    if (left < 0) return last
  }
  return undefined
}

/** The entries up to `last`. Those that came since it was found are among them, and may exceed a limit: none is skipped. */
async function* upTo<Entry>(
  last: string,
  pages: AsyncIterable<readonly Entry[]>,
  { nameOf }: EntryKind<Entry>,
): AsyncGenerator<readonly Entry[]> {
  for await (const page of pages) {
    const wanted = page.filter((entry) => compareUtf8(nameOf(entry), last) <= 0)
    if (wanted.length > 0) yield wanted
    if (wanted.length < page.length) return
  }
}

/** Characters in each write; a write for each entry would cost more than the entry. Of a list that is not read, some blocks wait in memory. */
const blockSize = 32 * 1024

/** How many entries become text in one call, which costs a fraction of a call for each. */
const entriesAtOnce = 64

/** The entries of `pages` as the text of one JSON array, in blocks; the text of `whenEmpty` if there are none. */
async function* jsonArray<Entry>(
  pages: AsyncIterable<readonly Entry[]>,
  kind: EntryKind<Entry>,
  whenEmpty: () => string,
): AsyncIterable<string> {
  let isEmpty = true
  let block = ''
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += entriesAtOnce) {
      const entries = page.slice(at, at + entriesAtOnce)
      block += (isEmpty ? '[' : ',') + textOf(entries, kind).slice(1, -1)
      isEmpty = false
      if (block.length < blockSize) continue
      yield block
      block = ''
    }
  }
  yield isEmpty ? whenEmpty() : `${block}]`
}

function textOf<Entry>(page: readonly Entry[], { show }: EntryKind<Entry>): string {
  return JSON.stringify(page.map(show))
}
