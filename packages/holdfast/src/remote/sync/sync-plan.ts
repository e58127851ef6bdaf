import { stat } from 'node:fs/promises'
import { type Client, nameFromPath, prefixFromPath } from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import { visible } from '@holdfast/server/visible'
import type { PathSelection } from '../selection.ts'
import type { SyncRecord, SyncState } from './sync-state.ts'
import { CommandError, usageError, exitCodes } from '../errors.ts'
import { comesFromPartial } from '../get/partial-files.ts'
import { isLocalName } from '../get/targets.ts'
import { isMissing, walkDirectory, type FoundEntry } from '../local-files.ts'

/** What to synchronize, and how. */
export interface SyncPlan {
  readonly client: Client
  readonly directory: string
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  /** Whether only to report what would be done. */
  readonly isDryRun: boolean
  /** How many files may be deleted that the other side does not have. `undefined`: such files are not looked for. */
  readonly mostDeletions: number | undefined
  /** Which paths of the directory are meant; others are left alone on both sides. */
  readonly selection: PathSelection
  /** Whether to compare the content of a file even if its size and times are as an earlier run recorded them. */
  readonly isChecksum: boolean
  /** The most requests, or reads, at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly state: SyncState
  readonly events: SyncEvents
}

/** What is done with a file, or in a dry run would be. */
export type SyncAction =
  | { readonly action: 'send'; readonly path: string; readonly name: string; readonly size: number }
  | {
      readonly action: 'fetch'
      readonly path: string
      readonly name: string
      readonly size: number
    }
  /** What `verify` has found; without a path, it is only on the server. */
  | {
      readonly action: 'differ'
      readonly name: string
      readonly path?: string
      readonly how: string
    }
  /** With a path, a file here. */
  | { readonly action: 'delete'; readonly name: string; readonly path?: string }
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
  /** Files that were sent or fetched. */
  readonly moved: number
  readonly movedBytes: number
}

/** The outcome of `sync`. */
export interface SyncSummary {
  readonly sent: number
  readonly sentBytes: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: number
  readonly failed: number
}

const shownClashes = 10

/** Where a run makes changes. */
type ChangedSide = 'here' | 'there'

/**
 * Checks all names before anything is changed; resolves with the number of files that will be compared.
 *
 * @throws CommandError where two files here have one name on the server, or more files would be deleted than allowed
 */
export async function checkNames(plan: SyncPlan, changed: ChangedSide): Promise<number> {
  const { directory, signal, mostDeletions } = plan
  const isHere = changed === 'here'
  if (!isHere || !plan.isDryRun) await requireDirectory(directory)
  const files = { here: 0, there: 0 }
  let extra = 0
  const unread: string[] = []
  let last: { readonly name: string; readonly path: string } | undefined
  const clashes: string[] = []
  const onUnread = (path: string) => void unread.push(path)
  const local = (isHere ? walkAll : walkSelected)(plan, directory, onUnread)
  const remote = isHere || mostDeletions !== undefined ? remoteNames(plan) : noNames()
  for await (const { found } of mergeByName([local, remote, ...recordsOf(plan)])) {
    signal.throwIfAborted()
    const [here, there, ...known] = found
    if (there) files.there++
    if (there && !here && !isHere && mayDelete(plan, there.name, known)) extra++
    if (here?.kind !== 'file' || !plan.selection.isSelected(here.path)) continue
    if (!there && isHere) extra++
    files.here++
    if (last?.name === here.name) clashes.push(`${last.path} and ${here.path}: ${here.name}`)
    last = here
  }
  if (clashes.length > 0) throw clash(clashes)
  if (mostDeletions !== undefined && unread.length === 0) {
    if (isHere) refuseDeletionsHere(files.there, extra, mostDeletions)
    else refuseDeletions(directory, files.here, extra, mostDeletions)
  }
  return isHere ? files.there : files.here
}

/**
 * The local path for a file that only the server has. A record or the list of paths may name it; otherwise it is the name without the
 * folder `into`. The rule that made a name cannot be reversed: ` - ` may be part of a file's own name. `undefined` if no file can have
 * the path.
 */
export function pathFromName(
  name: string,
  into: string,
  known: readonly ({ readonly path?: string | undefined } | undefined)[],
): string | undefined {
  const isMadeOf = (path: string) => nameFromPath(into === '' ? path : `${into}/${path}`) === name
  const isBelow = (path: string) => path.split('/').every((part) => isLocalName(part))
  const recorded = known.find((record) => {
    const { path } = record ?? {}
    return path !== undefined && isBelow(path) && isMadeOf(path)
  })
  if (recorded?.path !== undefined) return recorded.path
  const flat = name.slice(prefixFromPath(into).length)
  return isLocalName(flat) ? flat : undefined
}

/** What is selected in the directory, in the order of its names on the server. */
export function walkSelected(
  { into, signal, selection }: SyncPlan,
  directory: string,
  onUnread: (path: string, error: Error) => void,
): AsyncGenerator<FoundEntry, void> {
  return walkDirectory(directory, { into, signal, onUnread, isExcluded: selection.isExcluded })
}

/**
 * All entries below the directory in the same order, selected or not: the name of a file that is not selected must not be taken for
 * another file's.
 */
export function walkAll(
  { into, signal }: SyncPlan,
  directory: string,
  onUnread: (path: string, error: Error) => void,
): AsyncGenerator<FoundEntry, void> {
  return walkDirectory(directory, { into, signal, onUnread })
}

/**
 * Whether to delete a file that only the server seems to have. Never one whose path here is left out, as a download that has not ended. A
 * name does not show its path; so if the selection is partial, a record must name a selected path.
 */
export function mayDelete(
  { selection, into }: SyncPlan,
  name: string,
  known: readonly (SyncRecord | undefined)[],
): boolean {
  if (comesFromPartial(name.slice(prefixFromPath(into).length))) return false
  if (selection.isWhole) return true
  return known.some((record) => record?.path !== undefined && selection.isSelected(record.path))
}

/** The records are read only where {@link mayDelete} asks for them. */
function recordsOf({ selection, state, mostDeletions }: SyncPlan) {
  return selection.isWhole || mostDeletions === undefined ? [] : state.records
}

async function requireDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch((error: unknown) => {
    if (isMissing(error)) throw new CommandError(exitCodes.notFound, `${directory} does not exist`)
    throw error
  })
  if (!found.isDirectory()) throw usageError(`${directory} is not a directory`)
}

async function* noNames(): AsyncGenerator<{ readonly name: string }, void> {}

async function* remoteNames({ client, into, signal }: SyncPlan) {
  for await (const name of client.list({ prefix: prefixFromPath(into), signal })) yield { name }
}

function clash(clashes: readonly string[]): CommandError {
  const more = clashes.length - shownClashes
  return new CommandError(
    exitCodes.failed,
    `Nothing was changed, because several files would have the same name on the server: ${[
      ...clashes.slice(0, shownClashes).map(visible),
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

function refuseDeletionsHere(files: number, extra: number, most: number): void {
  if (files === 0 && extra > 0) {
    throw new CommandError(
      exitCodes.failed,
      'The server has no such files, and with --delete nothing would be left here',
      ['Look with holdfast ls whether that is the right server and folder.'],
    )
  }
  if (extra > most) {
    throw new CommandError(
      exitCodes.failed,
      `Nothing was fetched or deleted: ${extra} files exist only here, and at most ${most} may be deleted`,
      [`If that is intended, add --max-delete ${extra}; --dry-run shows which ones.`],
    )
  }
}
