import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { nameFromPath, type FileDetails } from '@holdfast/client'
import { CommandError, exitCodes } from '../errors.ts'
import type { SyncPlan } from './sync-plan.ts'
import type { SyncRecord, SyncState } from './sync-state.ts'
import type { SyncOutcome } from './transfers.ts'
import type { FoundEntry } from '../local-files.ts'

/** What becomes of the files of a run: it is counted, reported, and recorded in the order of names. */
export interface RunOutcomes {
  readonly counts: Readonly<RunCounts>
  /** Takes the outcome of a file as soon as it comes. Call it in ascending order of names. */
  finish(file: Pick<FoundEntry, 'path' | 'name'>, promised: Promise<SyncOutcome>): void
  /** Passes over what is no file; if it is asked for by name, that is a failure. */
  skip(entry: FoundEntry): Promise<void>
  fail(path: string, error: unknown): Promise<void>
  /** Keeps what is known of a file that is not looked at now. */
  keepRecord(there: FileDetails | undefined, known: readonly SyncRecord[]): void
  /** Whether to await {@link written} before more files are finished. */
  isFull(): boolean
  /** Resolves when all that has been finished is counted, reported and recorded. */
  written(): Promise<void>
  /** Ends the record of the run. */
  close(): Promise<void>
}

interface RunCounts {
  /** Files that were sent or fetched. */
  moved: number
  movedBytes: number
  unchanged: number
  skipped: number
  failed: number
}

/**
 * @param action what the run does with files
 * @param total how many files it will compare
 * @param stop is aborted where the run cannot go on
 */
export function createOutcomes(
  { state, events, isDryRun, selection }: SyncPlan,
  action: 'send' | 'fetch',
  total: number,
  stop: AbortController,
): RunOutcomes {
  const counts = { moved: 0, movedBytes: 0, unchanged: 0, skipped: 0, failed: 0 }
  let isRecorded = true
  const noteUnrecorded = (error: unknown) => {
    isRecorded = false
    events.note(`The record of this run cannot be written: ${String(error)}`)
  }
  const records = orderRecords(state, noteUnrecorded)
  return {
    counts,
    finish({ path, name }, promised) {
      const counted = promised.then(async (outcome) => {
        if (outcome.kind === 'failed') await fail(path, outcome.error)
        else if (outcome.kind === 'unchanged') counts.unchanged++
        else if (outcome.kind === 'moved') {
          counts.moved++
          counts.movedBytes += outcome.size
          await events.did({ action, path, name, size: outcome.size })
        }
        const { moved, movedBytes, unchanged, failed } = counts
        events.progress({ checked: moved + unchanged + failed, total, moved, movedBytes })
        return 'record' in outcome ? outcome.record : undefined
      })
      // Standard output may be closed.
      counted.catch((error: unknown) => stop.abort(error))
      records.add(counted.catch(() => undefined))
    },
    async skip({ path, name, kind }) {
      if (selection.listed.has(path)) {
        return fail(path, new CommandError(exitCodes.failed, `It is a ${kind}, and is left out`))
      }
      counts.skipped++
      await events.did({ action: 'skip', path, name, reason: kind })
    },
    fail,
    keepRecord(there, known) {
      records.add(Promise.resolve(known.find(({ etag }) => etag === there?.etag)))
    },
    isFull: () => records.isFull(),
    written: () => records.written(),
    async close() {
      await state
        .close(isDryRun ? 'forget' : isRecorded ? 'replace' : 'add')
        .catch((error: unknown) => noteUnrecorded(error))
    },
  }

  async function fail(path: string, error: unknown): Promise<void> {
    counts.failed++
    await events.failed(path, error)
  }
}

/** The paths that are asked for by name, until they are found. */
export interface ListedPaths {
  found(path: string): void
  /** Call this for a directory that cannot be read: paths below it are not reported as missing. '' stands for all. */
  unknownBelow(directory: string): void
  /** The path that has this name on the server, if one has. */
  withName(name: string): { readonly path: string } | undefined
  /**
   * Reports those that were not found as failures. A listed directory is not a failure: lists often name directories beside the files in
   * them.
   */
  failRest(fail: (path: string, error: unknown) => Promise<void>): Promise<void>
}

export function createListedPaths({ selection, directory, into }: SyncPlan): ListedPaths {
  const missing = new Set(selection.listed)
  const names = new Map<string, string>()
  for (const path of missing) names.set(nameFromPath(into === '' ? path : `${into}/${path}`), path)
  return {
    found: (path) => void missing.delete(path),
    unknownBelow(unread) {
      for (const path of missing) {
        if (unread === '' || path.startsWith(`${unread}/`)) missing.delete(path)
      }
    },
    withName(name) {
      const path = names.get(name)
      return path === undefined ? undefined : { path }
    },
    async failRest(fail) {
      for (const path of missing) {
        const found = await lstat(join(directory, path)).catch(() => undefined)
        if (found?.isDirectory()) continue
        await fail(path, new CommandError(exitCodes.notFound, 'There is no such file'))
      }
    },
  }
}

/** Runs a bounded number of tasks at a time. */
export interface TaskLimit {
  /** Starts the task as soon as a slot is free; resolves then. */
  start(task: () => Promise<void>): Promise<void>
  /** Resolves when no task is running. */
  settled(): Promise<void>
}

/** @param onError receives what a task rejects with */
export function limitTasks(most: number, onError: (error: unknown) => void): TaskLimit {
  const underWay = new Set<Promise<void>>()
  return {
    async start(task) {
      while (underWay.size >= most) await Promise.race(underWay)
      const running: Promise<void> = task()
        .catch(onError)
        .finally(() => underWay.delete(running))
      underWay.add(running)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/** Passes records to the state in the order of names: tasks start in that order, but may end in another. */
interface OrderedRecords {
  /** `undefined` for a file that needs no record. */
  add(record: Promise<SyncRecord | undefined>): void
  /** Whether all must be written before more are added. */
  isFull(): boolean
  /** Resolves when all are written. */
  written(): Promise<void>
}

/** The most records in memory: a large file that takes long holds back those after it. */
const mostWaiting = 10_000

/** @param onError called once with an error of writing; records are useful, but not needed */
function orderRecords(
  { add }: Pick<SyncState, 'add'>,
  onError: (error: unknown) => void,
): OrderedRecords {
  let waiting = 0
  let hasFailed = false
  let written = Promise.resolve()
  const write = async (before: Promise<void>, promised: Promise<SyncRecord | undefined>) => {
    await before
    const record = await promised
    waiting--
    if (record === undefined || hasFailed) return
    await add(record).catch((error: unknown) => {
      hasFailed = true
      onError(error)
    })
  }
  return {
    add(record) {
      waiting++
      written = write(written, record)
    },
    isFull: () => waiting >= mostWaiting,
    written: () => written,
  }
}
