import { setImmediate } from 'node:timers/promises'
import { compareUtf8, sortUtf8 } from '@holdfast/core'
import { mergeRuns } from './merge-runs.ts'

/** Takes names in any order, some perhaps more than once, and gives each once, in order. */
export interface NameSorter {
  add(name: string): void
  /** Resolves when no more is held than may be; to be called now and then. */
  settle(): Promise<void>
  /** The first of those added, in ascending order of their UTF-8 bytes; to be called once, at the end. */
  sorted(): Iterable<string>
  /** Whether names that came after those it gives were dropped for want of memory. */
  isCut(): boolean
}

export interface NameSorterOptions {
  /** The most names to give. */
  readonly limit: number
  /** Counts bytes of names, negative ones when they are freed; returns whether the names may stay in memory. */
  readonly grow?: (bytes: number) => boolean
  readonly runLength?: number
}

/** The most names that are sorted at a time: it takes a few milliseconds, for which other requests wait. */
const defaultRunLength = 8192

/** A run of fewer names is not compacted. */
const fewNames = 1024

/** Merged without a pause; it takes a millisecond or so. */
const namesPerTurn = 1024

/**
 * Sorts names in runs, which it merges as their names are asked for, so that no step takes long and the first name is
 * there soon. Gives the first `limit`; where that is less than a run, it keeps no more than a run. Where it may not
 * hold what it has, it drops the second half, and what comes after the first.
 */
export function createNameSorter({
  limit,
  grow = () => true,
  runLength = defaultRunLength,
}: NameSorterOptions): NameSorter {
  let runs: Buffer[] = []
  let run: string[] = []
  let mayHold = true
  let isCut = false
  /** Names from here on are not among the first `limit`. */
  let end: string | undefined

  const sortRun = () => {
    run = sortUtf8(run).filter((name, at, sorted) => name !== sorted[at - 1])
    if (run.length < limit) return
    run.length = limit
    end = run.at(-1)
  }

  const compactRun = () => {
    const compact = compactNames(run)
    runs.push(compact)
    run = []
    mayHold = grow(compact.length)
  }

  const all = () => mergeRuns([...runs.map(readCompactNames), run.values()])

  const dropHalf = async () => {
    sortRun()
    const before = runs
    const bytes = before.reduce((sum, { length }) => sum + length, 0)
    const merged = all()
    run = []
    runs = []
    let kept = 0
    for (const name of merged) {
      run.push(name)
      kept += name.length
      end = name
      if (run.length % namesPerTurn === 0) await setImmediate()
      if (kept * 2 >= bytes) break
      if (run.length >= runLength) compactRun()
    }
    isCut = true
    mayHold = grow(-bytes)
    if (run.length > 0) compactRun()
  }

  return {
    add(name) {
      if (end !== undefined && compareUtf8(name, end) >= 0) return
      run.push(name)
      if (run.length < runLength) return
      sortRun()
      if (run.length * 2 >= runLength) compactRun()
    },

    async settle() {
      if (!mayHold && runs.length > 1) await dropHalf()
    },

    *sorted() {
      sortRun()
      if (run.length > fewNames) compactRun()
      let left = limit
      const merged = all()
      // From now on only the iterator keeps the names in memory.
      runs = []
      run = []
      for (const name of merged) {
        yield name
        if (--left === 0) return
      }
    },

    isCut: () => isCut,
  }
}

/** Names decoded at a time. */
const chunkLength = 128

/** Names have no control characters. */
const separator = '\n'

const separatorByte = 0x0a

/** Stores `names`, at least one, in a buffer outside the heap. */
function compactNames(names: readonly string[]): Buffer {
  return Buffer.from(names.join(separator) + separator)
}

/** The names that {@link compactNames} was given. */
function* readCompactNames(compact: Buffer): Generator<string> {
  for (let from = 0, to = 0; from < compact.length; from = to) {
    for (let count = 0; count < chunkLength && to < compact.length; count++) {
      to = compact.indexOf(separatorByte, to) + 1
    }
    yield* compact.toString('utf8', from, to - 1).split(separator)
  }
}
