import { setImmediate } from 'node:timers/promises'
import type { BigIntStats } from 'node:fs'
import { sep } from 'node:path'
import { type ListOptions, compareUtf8, type BlobInfo } from '@holdfast/core'
import { type FileCalls, undefinedIfAbsent } from '../files/file-calls.ts'
import { isUnchanged, type UnchangedCache } from '../files/unchanged-cache.ts'
import { concurrently } from './directory-entries.ts'
import {
  memoryOf,
  toBlocks,
  type NameBlock,
  createNameSorter,
  type NameSorter,
  pageOf,
  type SortedNames,
  type TakePage,
  covers,
} from './sorted-names.ts'
import type { Blobs } from './walk-blobs.ts'

/**
 * The names of the blobs in `source`, each once, in ascending order of their UTF-8 bytes, selected by the options, in pages. It finds all
 * names before it gives the first, as far as memory allows; it stops if the reader stops. If names were dropped, for lack of memory or
 * because the reader is slow, another walk finds those after the last one given. Where names are kept, there is no walk. Other work of the
 * process goes on meanwhile.
 */
export function listNames(
  source: NameSource,
  { prefix = '', after = '', limit = Infinity }: ListOptions = {},
): AsyncIterable<readonly string[]> {
  return abortOnReturn(async function* (signal) {
    const held = source.budget.open()
    try {
      let rest = { prefix, after, limit }
      let take = await source.kept.open(rest)
      while (!signal.aborted) {
        const page = take?.(rest)
        if (!page) {
          take = await findNames(source, rest, held, signal)
          continue
        }
        const last = page.names.at(-1)
        if (last !== undefined) {
          rest = { ...rest, after: last, limit: rest.limit - page.names.length }
          yield page.names
        }
        if (page.isComplete || rest.limit === 0) return
        // Otherwise a fast reader would block all other work until the end of the list.
        await setImmediate()
      }
    } finally {
      held.release()
    }
  })
}

export interface NameSource {
  /** Finds names: see `WalkBlobs`. */
  readonly walk: <T>(use: (blobs: Blobs) => Promise<T>) => Promise<T>
  /** Limits the names in memory that are not kept. */
  readonly budget: NameBudget
  readonly kept: NameCache
}

/** A list of at most so many names is kept; a longer one only if it is read in pages. */
const fewNames = 4096

/** The most bytes of a name. */
const nameLength = 256

/** Walks to find the names that `rest` asks for: as many of the first ones as may be held. */
async function findNames(
  source: NameSource,
  rest: Required<ListOptions>,
  held: HeldNames,
  signal: AbortSignal,
): Promise<TakePage> {
  const { walk, kept } = source
  const keep = await kept.begin()
  // The sorter may drop half of the names on the way.
  const isPaged = keep !== undefined && rest.limit * nameLength <= kept.most / 2
  const { sorter, count } = await walk((blobs) => {
    held.release()
    let bytes = 0
    const grow = (more: number) => {
      bytes += more
      return held.grow(more) && (!isPaged || bytes <= kept.most)
    }
    const limit = isPaged ? Infinity : rest.limit
    return select(blobs, rest, createNameSorter({ limit, grow }), signal)
  })
  const isWorthKeeping = isPaged && count > rest.limit
  const isFew = count <= Math.min(fewNames, rest.limit)
  if (!keep || !(isWorthKeeping || isFew)) return takeFrom(sorter, held)
  const sorted = await collect(sorter, rest, signal)
  if (!signal.aborted) keep(sorted)
  return takeSorted(sorted, held, await kept.open(rest))
}

async function select(
  blobs: Blobs,
  { prefix, after }: Required<ListOptions>,
  sorter: NameSorter,
  signal: AbortSignal,
) {
  let count = 0
  for await (const names of blobs) {
    if (signal.aborted) break
    for (const name of names) {
      if (!name.startsWith(prefix) || compareUtf8(name, after) <= 0) continue
      sorter.add(name)
      count++
    }
  }
  return { sorter, count }
}

function takeFrom(sorter: NameSorter, held: HeldNames): TakePage {
  let pages: Iterator<readonly string[]> | undefined = sorter.pages()
  return () => {
    const page = pages?.next()
    if (!page || (page.done && sorter.isCut())) return undefined
    held.wait(() => (pages = undefined))
    return page.done ? { names: [], isComplete: true } : { names: page.value, isComplete: false }
  }
}

/** Collects all names of `sorter`; other work goes on meanwhile. */
async function collect(
  sorter: NameSorter,
  { prefix, after }: Required<ListOptions>,
  signal: AbortSignal,
): Promise<SortedNames> {
  const blocks: NameBlock[] = []
  const pages = sorter.pages()
  for (let page = pages.next(); !page.done && !signal.aborted; page = pages.next()) {
    if (blocks.length > 0) await setImmediate()
    blocks.push(...toBlocks(page.value))
  }
  return { prefix, after, blocks, isCut: sorter.isCut() }
}

/** Gives the first page of `sorted`. If `again` can give the others from what is kept, the list holds no names itself. */
function takeSorted(sorted: SortedNames, held: HeldNames, again: TakePage | undefined): TakePage {
  let names: SortedNames | undefined = sorted
  held.release()
  if (!again) held.grow(memoryOf(sorted.blocks))
  return (rest) => {
    if (!names) return again?.(rest)
    const page = pageOf(names, rest)
    if (again) names = undefined
    else held.wait(() => (names = undefined))
    return page
  }
}

interface DetailSources {
  readonly list: (options: ListOptions) => AsyncIterable<readonly string[]>
  /** The description of a blob; `undefined` if it is gone. */
  readonly stat: (name: string) => Promise<BlobInfo | undefined>
}

/** The blobs that `list` names, in its pages; inspects each file once. If blobs are gone by then, lists further names, up to the limit. */
export function listDetails(
  { list, stat }: DetailSources,
  { prefix = '', after = '', limit = Infinity }: ListOptions = {},
): AsyncIterable<readonly BlobInfo[]> {
  return abortOnReturn(async function* (signal) {
    let last = after
    let left = limit
    let isComplete = false
    while (left > 0 && !isComplete) {
      const asked = left
      let listed = 0
      const cut = left === Infinity ? {} : { limit: left }
      for await (const names of stoppable(list({ prefix, after: last, ...cut }), signal)) {
        const page = (await concurrently(names, stat)).filter((info) => info !== undefined)
        if (signal.aborted) return
        if (page.length > 0) yield page
        last = names.at(-1) ?? last
        listed += names.length
        left -= page.length
      }
      isComplete = listed < asked
    }
  })
}

/** Stops the iteration of `pages` as soon as `signal` aborts, even while a page is awaited. */
function stoppable<T>(pages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pages[Symbol.asyncIterator]()
      signal.addEventListener('abort', () => void iterator.return?.(), { once: true })
      return iterator
    },
  }
}

/**
 * Iterates over the result of `start`, and aborts its signal as soon as the reader stops. A generator alone would notice that only at its
 * next `yield`.
 */
function abortOnReturn<T>(
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const abort = new AbortController()
      const iteration = start(abort.signal)
      return {
        next: () => iteration.next(),
        return: () => {
          abort.abort()
          return iteration.return()
        },
      }
    },
  }
}

/** The names of one directory in memory. They are used only if its stats prove that it has not changed since. */
interface NameCache {
  /** The most bytes that names may take. */
  readonly most: number
  /**
   * Resolves with a function that returns the pages of such a list; `undefined` if its first page is unknown or the directory has
   * changed.
   */
  open(options: Required<ListOptions>): Promise<TakePage | undefined>
  /**
   * Call it before reading the directory. Resolves with a function that keeps the names that are read then; `undefined` if a change from
   * now on might not show in the stats.
   */
  begin(): Promise<((names: SortedNames) => void) | undefined>
}

/** For file systems whose stats may be out of date. */
export const noNameCache: NameCache = {
  most: 0,
  open: async () => undefined,
  begin: async () => undefined,
}

/**
 * Keeps the names of `directory`, which has no subdirectories with names, in `cache`.
 * `docs/decisions/028-names-kept-until-the-directory-changes.md` explains why they are right.
 */
export function createNameCache(
  directory: string,
  cache: UnchangedCache<SortedNames>,
  statsOf: StatsOf,
): NameCache {
  return {
    most: cache.bytes / 2,

    async open(options) {
      const { stats, names } = cache.get(directory) ?? {}
      if (!stats || !names || !covers(names, options)) return undefined
      const now = await statsOf(directory)
      if (!now || !isUnchanged(stats, now)) return undefined
      // A slow reader must not keep in memory what the cache has dropped.
      return (rest) => {
        const known = cache.get(directory)
        return known?.names && known.stats === stats ? pageOf(known.names, rest) : undefined
      }
    },

    async begin() {
      const before = await statsOf(directory)
      if (!before || !cache.isSettled(before)) return undefined
      return (names) => {
        cache.keep(directory, { stats: before, memory: memoryOf(names.blocks), names })
      }
    },
  }
}

/** The stats of a directory; `undefined` if there is none. */
type StatsOf = (directory: string) => Promise<BigIntStats | undefined>

/** Makes a reader of the stats of directories, which follows a symbolic link. */
export function createStatsOf(calls: Pick<FileCalls, 'lstat'>): StatsOf {
  return async (directory) => {
    return calls.lstat(`${directory}${sep}.`).catch(undefinedIfAbsent)
  }
}

/** The names that one list holds in memory. */
interface HeldNames {
  /** Counts `bytes` more; returns whether the list may hold them. */
  grow(bytes: number): boolean
  /** Records that the reader has just taken names. Calls `drop` if other lists need the memory before the reader takes more. */
  wait(drop: () => void): void
  /** Frees all that it holds. */
  release(): void
}

/** The memory that all lists of a store may use for names. */
export interface NameBudget {
  open(): HeldNames
  /** Bytes held now. */
  readonly held: () => number
}

/** Bytes; enough for more than a million names of the usual length. */
const defaultMost = 32 * 1024 * 1024

/** Bytes that a list may hold in any case. */
const defaultLeast = 128 * 1024

/** A reader that takes no names for so many milliseconds is slow. */
const slowAfter = 1000

/**
 * Limits the names of all lists together to `most` bytes, plus `least` for each. When a list needs more, the lists whose readers have
 * waited longest drop their names. Such a list reads its names again when its reader goes on.
 */
export function createNameBudget(
  { most = defaultMost, least = defaultLeast } = {},
  now: () => number = () => performance.now(),
): NameBudget {
  /** The list whose reader has waited longest is the first. */
  const waiting = new Map<HeldNames, { readonly since: number; readonly drop: () => void }>()
  let total = 0

  const dropUntilFits = () => {
    for (const [held, { since, drop }] of waiting) {
      if (total <= most || now() - since < slowAfter) return
      drop()
      held.release()
    }
  }

  const open = (): HeldNames => {
    let bytes = 0
    const held: HeldNames = {
      grow(more) {
        bytes += more
        total += more
        if (total > most) dropUntilFits()
        return total <= most || bytes <= least
      },
      wait(drop) {
        waiting.delete(held)
        waiting.set(held, { since: now(), drop })
      },
      release() {
        waiting.delete(held)
        total -= bytes
        bytes = 0
      },
    }
    return held
  }

  return { open, held: () => total }
}
