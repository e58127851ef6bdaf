import { stat } from 'node:fs/promises'
import { type Client, prefixFromPath } from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import type { SyncState } from './sync-state.ts'
import { CommandError, usageError, exitCodes } from '../errors/command-error.ts'
import { printable } from '../../terminal/print.ts'
import { isMissing } from './local-file.ts'
import { walkDirectory } from './walk-directory.ts'

/** What to synchronize, and how. */
export interface SyncPlan {
  readonly client: Client
  readonly directory: string
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  /** Whether only to report what would be done. */
  readonly isDryRun: boolean
  /** How many files may be deleted that only the server has; `undefined`: does not look for them. */
  readonly mostDeletions: number | undefined
  /** The most requests, or reads, at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly state: SyncState
  readonly events: SyncEvents
}

/** What is done with a file, or in a dry run would be. */
export type SyncAction =
  | { readonly action: 'send'; readonly path: string; readonly name: string; readonly size: number }
  | { readonly action: 'delete'; readonly name: string }
  | {
      readonly action: 'skip'
      readonly path: string
      readonly name: string
      readonly reason: string
    }

export interface SyncEvents {
  /** Called after an action is done; in a dry run, instead of it. */
  did(action: SyncAction): Promise<void>
  /** Called for each failure; the other files follow. */
  failed(path: string, error: unknown): Promise<void>
  note(text: string): void
  progress(progress: SyncProgress): void
}

/** The progress of a run. */
export interface SyncProgress {
  /** Of the files that existed at the beginning. */
  readonly checked: number
  readonly total: number
  readonly sent: number
  readonly sentBytes: number
}

/** The outcome of a run. */
export interface SyncSummary {
  readonly sent: number
  readonly sentBytes: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: number
  readonly failed: number
}

const shownClashes = 10

/**
 * Checks all names before anything is changed; resolves with the number of files.
 *
 * @throws CommandError where two files would have one name on the server, or more files would be deleted than allowed
 */
export async function checkNames(plan: SyncPlan): Promise<number> {
  const { directory, into, signal, mostDeletions } = plan
  await requireDirectory(directory)
  let files = 0
  let extra = 0
  const unread: string[] = []
  let last: { readonly name: string; readonly path: string } | undefined
  const clashes: string[] = []
  const onUnread = (path: string) => void unread.push(path)
  const local = walkDirectory(directory, { into, signal, onUnread })
  for await (const { found } of mergeByName([local, remoteNames(plan)])) {
    const [here, there] = found
    if (there && !here) extra++
    if (here?.kind !== 'file') continue
    files++
    if (last?.name === here.name) clashes.push(`${last.path} and ${here.path}: ${here.name}`)
    last = here
  }
  if (clashes.length > 0) throw clash(clashes)
  if (mostDeletions !== undefined && unread.length === 0)
    refuseDeletions(directory, files, extra, mostDeletions)
  return files
}

async function requireDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch((error: unknown) => {
    if (isMissing(error)) throw new CommandError(exitCodes.notFound, `${directory} does not exist`)
    throw error
  })
  if (!found.isDirectory()) throw usageError(`${directory} is not a directory`)
}

async function* remoteNames({ client, into, signal, mostDeletions }: SyncPlan) {
  if (mostDeletions === undefined) return
  for await (const name of client.list({ prefix: prefixFromPath(into), signal })) yield { name }
}

function clash(clashes: readonly string[]): CommandError {
  const more = clashes.length - shownClashes
  return new CommandError(
    exitCodes.failed,
    `Nothing was sent, because several files would have the same name on the server: ${[
      ...clashes.slice(0, shownClashes).map(printable),
      ...(more > 0 ? [`and ${more} more`] : []),
    ].join('; ')}`,
    ['Rename one of each pair.'],
  )
}

function refuseDeletions(directory: string, files: number, extra: number, most: number): void {
  if (files === 0 && extra > 0) {
    throw new CommandError(
      exitCodes.failed,
      `${directory} has no files, and with --delete nothing would be left on the server`,
      ['If that is intended, use holdfast rm.'],
    )
  }
  if (extra > most) {
    throw new CommandError(
      exitCodes.failed,
      `Nothing was sent or deleted: ${extra} files exist only on the server, and at most ${most} may be deleted`,
      [`If that is intended, add --max-delete ${extra}; --dry-run shows which ones.`],
    )
  }
}
