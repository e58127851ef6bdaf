import { compareUtf8, sortUtf8, type ListOptions } from '@holdfast/core'

/** Takes names in any order, also repeatedly, and gives each once, in order. */
export interface NameSorter {
  add(name: string): void
  /** The first of the added names, in ascending order of their UTF-8 bytes, in pages. Call it once, at the end. */
  pages(): Iterator<readonly string[]>
  /** Whether names after those that it gives were dropped to save memory. */
  isCut(): boolean
}

interface NameSorterOptions {
  /** The most names to give. */
  readonly limit: number
  /** Counts bytes of names, negative ones when they are freed; returns whether the names may stay in memory. */
  readonly grow?: (bytes: number) => boolean
  readonly runLength?: number
}

/** The most names that are sorted at a time. Other requests wait for this, a few milliseconds. */
const defaultRunLength = 8192

/** The most names in a page; a reader takes a millisecond or so for them. */
const pageLength = 1024

/**
 * Sorts names in runs, and merges the runs while their names are requested: no step takes long, and the first name comes soon. Gives the
 * first `limit`; if that is less than a run, keeps at most one run. If its names take too much memory, it drops the
 * last half.
 */
export function createNameSorter({
  limit,
  grow = () => true,
  runLength = defaultRunLength,
}: NameSorterOptions): NameSorter {
  let runs: NameBlock[][] = []
  let run: string[] = []
  /** Names from here on are not among the first `limit`. */
  let end: string | undefined
  /** Names from here on were dropped. */
  let cut: string | undefined

  const sortRun = () => {
    run = withoutRepeats(sortUtf8(run))
    if (run.length < limit) return
    run.length = limit
    end = run.at(-1)
  }

  const compactRun = () => {
    const blocks = toBlocks(run)
    runs.push(blocks)
    run = []
    if (!grow(memoryOf(blocks))) dropHalf()
  }

  /** Removes from each run the blocks that begin at or after a certain name. */
  const dropHalf = () => {
    const blocks = runs.flat()
    const firsts = withoutRepeats(sortUtf8(blocks.map(({ first }) => first)))
    // The block with the least name must stay, or there would be no progress.
    const from = firsts[Math.ceil(firsts.length / 2)]
    if (from === undefined) return
    const isKept = ({ first }: NameBlock) => compareUtf8(first, from) < 0
    runs = runs.map((kept) => kept.filter(isKept))
    cut = from
    if (end === undefined || compareUtf8(from, end) < 0) end = from
    grow(memoryOf(runs.flat()) - memoryOf(blocks))
  }

  return {
    add(name) {
      if (end !== undefined && compareUtf8(name, end) >= 0) return
      run.push(name)
      if (run.length < runLength) return
      sortRun()
      if (run.length * 2 >= runLength) compactRun()
    },

    pages() {
      sortRun()
      if (runs.length > 0 || run.length > pageLength) compactRun()
      const merged = runs.length > 0 ? mergeRuns(runs) : [run]
      // From now on only the iterator keeps the names in memory.
      runs = []
      run = []
      return firstOf(merged, limit, cut)
    },

    isCut: () => cut !== undefined,
  }
}

/** The first `limit` names of `merged` and before `cut`, in pages of at most {@link pageLength}. */
function* firstOf(
  merged: Iterable<readonly string[]>,
  limit: number,
  cut: string | undefined,
): Generator<readonly string[]> {
  let left = limit
  for (const names of merged) {
    const kept = cut === undefined ? names : names.filter((name) => compareUtf8(name, cut) < 0)
    for (let at = 0; at < kept.length && left > 0; at += pageLength) {
      const page = kept.slice(at, Math.min(at + pageLength, at + left))
      yield page
      left -= page.length
    }
    if (left === 0) return
  }
}

/** A run from its next name on. */
interface Cursor {
  /** The names of a block, and which of them is the next. */
  names: readonly string[]
  next: number
  /** The blocks after that one. */
  readonly blocks: NameBlock[]
}

/** The usual number of blocks in a page: it has the names of all runs before the first name of some block. */
const blocksPerPage = 8

/**
 * Merges sorted `runs`, which it empties, into one sorted sequence without duplicates, in pages. It sorts all names before a certain one
 * together: the engine does that faster than comparing names one by one. With n runs, no page has more names than n + {@link
 * blocksPerPage} blocks.
 */
function* mergeRuns(runs: readonly NameBlock[][]): Generator<string[]> {
  const cursors = runs.map((blocks): Cursor => ({ names: [], next: 0, blocks }))
  const firsts = sortUtf8(runs.flatMap((blocks) => blocks.map(({ first }) => first)))
  let at = 0
  do {
    at += blocksPerPage
    const page: string[] = []
    for (const cursor of cursors) takeBefore(firsts[at], cursor, page)
    // If all of these blocks begin with one name, there is nothing before it.
    if (page.length > 0) yield withoutRepeats(sortUtf8(page))
  } while (at < firsts.length)
}

/** Moves the names before `end`, or all if there is none, from `cursor` to `page`. */
function takeBefore(end: string | undefined, cursor: Cursor, page: string[]): void {
  const isBefore = (name: string) => end === undefined || compareUtf8(name, end) < 0
  while (true) {
    for (; cursor.next < cursor.names.length; cursor.next++) {
      const name = cursor.names[cursor.next] ?? ''
      if (!isBefore(name)) return
      page.push(name)
    }
    const [block] = cursor.blocks
    if (!block || !isBefore(block.first)) return
    cursor.names = namesOf(block)
    cursor.next = 0
    cursor.blocks.shift()
  }
}

/** Removes duplicates from the sorted `names`. */
function withoutRepeats(names: readonly string[]): string[] {
  return names.filter((name, at) => name !== names[at - 1])
}

/** Names in ascending order of their UTF-8 bytes, outside the heap. The beginning that all of them share is stored once. */
export interface NameBlock {
  readonly first: string
  /** How many UTF-16 units of `first` all names begin with. */
  readonly shared: number
  /** The rests of all names, in UTF-8. */
  readonly bytes: Buffer
}

/** The most names in a block. */
const blockLength = 128

/** Bytes that a block takes beside its names. */
const overhead = 256

/** Names have no control characters. */
const separator = '\n'

/** The blocks of `names`, which are in order. */
export function toBlocks(names: readonly string[]): NameBlock[] {
  const blocks: NameBlock[] = []
  for (let at = 0; at < names.length; at += blockLength) {
    blocks.push(toBlock(names.slice(at, at + blockLength)))
  }
  return blocks
}

function toBlock(names: readonly string[]): NameBlock {
  // A string of its own: a name may be a part of a long string, which it would keep in memory.
  const first = Buffer.from(names[0] ?? '').toString()
  const shared = sharedLength(first, names.at(-1) ?? '')
  const text = names.join(separator)
  const rests = text.slice(shared).replaceAll(separator + first.slice(0, shared), separator)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(rests))
  bytes.write(rests)
  return { first, shared, bytes }
}

/** How many UTF-16 units both names begin with, in whole characters. All names between the two begin with them. */
function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return /[\ud800-\udbff]/.test(one[length - 1] ?? '') ? length - 1 : length
}

/** The names that are in `block`. */
function namesOf({ first, shared, bytes }: NameBlock): string[] {
  const start = first.slice(0, shared)
  return bytes
    .toString()
    .split(separator)
    .map((rest) => start + rest)
}

/** Bytes of memory that `blocks` take. */
export function memoryOf(blocks: readonly NameBlock[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length + overhead, 0)
}

/** The names that begin with `prefix` and come after `after`, as far as they are held. */
export interface SortedNames {
  readonly prefix: string
  readonly after: string
  /** In order. */
  readonly blocks: readonly NameBlock[]
  /** Whether names that come after those in `blocks` are not held. */
  readonly isCut: boolean
}

interface Page {
  readonly names: readonly string[]
  /** Whether these are all. */
  readonly isComplete: boolean
}

/** Gives the next page; `undefined` if the names were dropped. */
export type TakePage = (rest: Required<ListOptions>) => Page | undefined

/** Whether `sorted` has the first names of a list by these options, if there are any. */
export function covers(sorted: SortedNames, { prefix, after }: Required<ListOptions>): boolean {
  return prefix.startsWith(sorted.prefix) && compareUtf8(after, sorted.after) >= 0
}

/** The first page of a list by these options; `undefined` if `sorted` does not hold it. */
export function pageOf(
  { blocks, isCut }: SortedNames,
  { prefix, after, limit }: Required<ListOptions>,
): Page | undefined {
  const most = Math.min(limit, pageLength)
  const names: string[] = []
  const first = compareUtf8(prefix, after) > 0 ? prefix : after
  for (let at = Math.max(0, firstBlockAfter(blocks, first) - 1); at < blocks.length; at++) {
    const block = blocks[at]
    for (const name of block ? namesOf(block) : []) {
      if (compareUtf8(name, first) < 0 || name === after) continue
      // Names of one prefix stand together.
      if (!name.startsWith(prefix)) return { names, isComplete: true }
      if (names.length === most) return { names, isComplete: false }
      names.push(name)
    }
  }
  return names.length === 0 && isCut ? undefined : { names, isComplete: !isCut }
}

/** The index of the first of `blocks` that begins after `name`; their number if there is none. */
function firstBlockAfter(blocks: readonly NameBlock[], name: string): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareUtf8(blocks[middle]?.first ?? '', name) > 0) high = middle
    else low = middle + 1
  }
  return low
}
