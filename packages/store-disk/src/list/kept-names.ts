import type { BigIntStats } from 'node:fs'
import { sep } from 'node:path'
import type { ListOptions } from '@holdfast/core'
import { isUnchanged, type UnchangedCache } from '../files/unchanged-cache.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isAbsence } from '../files/translate-fs-error.ts'
import { memoryOf } from './name-sorter.ts'
import { covers, pageOf, type SortedNames, type TakePage } from './sorted-names.ts'

/** The names of one directory in memory. They are used only if its stats prove that it has not changed since. */
export interface KeptNames {
  /** The most bytes that names may take. */
  readonly most: number
  /**
   * Resolves with what gives the pages of a list with these options; `undefined` if its first page is unknown or the directory has
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
export const noKeptNames: KeptNames = {
  most: 0,
  open: async () => undefined,
  begin: async () => undefined,
}

/**
 * Keeps the names of `directory`, which has no subdirectories with names, in `cache`.
 * `docs/decisions/028-names-kept-until-the-directory-changes.md` explains why they are right.
 */
export function createKeptNames(
  directory: string,
  cache: UnchangedCache<SortedNames>,
  statsOf: StatsOf,
): KeptNames {
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
    try {
      return await calls.lstat(`${directory}${sep}.`)
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }
}

/** The names that one list holds in memory. */
export interface HeldNames {
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
