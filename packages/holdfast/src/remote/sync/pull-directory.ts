import { lstat, mkdir, realpath, unlink } from 'node:fs/promises'
import { fstatSync } from 'node:fs'
import { join, posix } from 'node:path'
import {
  HoldfastError,
  isHoldfastError,
  prefixFromPath,
  type FileDetails,
  type FileToDownload,
} from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import { CommandError, endsTransfers, exitCodes } from '../errors.ts'
import { beginDownload } from '../get/get.ts'
import { isPartial, listPartials } from '../get/partial-files.ts'
import {
  createDirectorySync,
  createReceiver,
  makeDirectories,
  type DirectorySync,
  type PlacedFile,
} from '../get/receive-file.ts'
import { localName } from '../get/targets.ts'
import type { Login } from '../profile.ts'
import {
  type FileVersion,
  isMissing,
  toVersion,
  versionOf,
  inspectFiles,
  type FoundFile,
} from '../local-files.ts'
import { createListedPaths, createOutcomes, limitTasks } from './run-outcomes.ts'
import { checkNames, pathFromName, walkAll, type SyncPlan } from './sync-plan.ts'
import type { SyncRecord } from './sync-state.ts'
import { compareContents, smallSize, type SyncOutcome } from './transfers.ts'
export interface PullPlan extends SyncPlan {
  readonly login: Login
}

/** The outcome of `pull`. */
export interface PullSummary {
  readonly fetched: number
  readonly fetchedBytes: number
  readonly unchanged: number
  readonly deleted: number
  readonly failed: number
}

/**
 * Makes the files of a directory equal to the server's. Fetches what is missing or differs, and deletes what is only here, if allowed. Each
 * file appears whole, and none outside of the directory. After an early end, the same call continues with the rest.
 *
 * @throws CommandError for what is refused before anything is changed; errors that concern all files; the signal's reason
 */
export async function pullDirectory(given: PullPlan): Promise<PullSummary> {
  if (!given.isDryRun) await makeDirectories(given.directory)
  const total = await checkNames(given, 'here')
  const stop = new AbortController()
  const directory = await realpath(given.directory).catch(() => given.directory)
  const plan = { ...given, directory, signal: AbortSignal.any([given.signal, stop.signal]) }
  const run = createRun(plan, total, stop)
  const extra = await run.compareAll()
  plan.signal.throwIfAborted()
  return run.end(extra)
}

/** Small files that are fetched together. */
const mostTogether = 1000

/** Reports the outcome of a file; the promise settles when the file is synced. */
type FinishLater = (outcome: Promise<SyncOutcome>) => void

/** A file to be fetched together with others. */
interface SmallFile {
  readonly path: string
  readonly there: FileDetails
  readonly finishLater: FinishLater
}

function createRun(plan: PullPlan, total: number, stop: AbortController) {
  const { client, directory, into, signal, state, events, isDryRun, mostDeletions } = plan
  /** Prefixes of the names below paths that cannot be read: whether those files are here is unknown. */
  const unread: string[] = []
  const outcomes = createOutcomes(plan, 'fetch', total, stop)
  const listed = createListedPaths(plan)
  const fetch = createFetching(plan)
  const tasks = limitTasks(plan.concurrency, (error) => stop.abort(error))
  /** Files of all batches: those that come alone are fetched several at a time. */
  const fetches = limitTasks(plan.concurrency, (error) => stop.abort(error))
  const batch: SmallFile[] = []

  return { compareAll, end }

  /** Resolves with the files that are only here. */
  async function compareAll(): Promise<readonly FoundFile[]> {
    const extra: FoundFile[] = []
    const onUnread = (path: string, error: Error) => {
      // A dry run makes no directory.
      if (isDryRun && path === directory && isMissing(error)) return
      unread.push(path === directory ? prefixFromPath(into) : prefixFromPath(join(into, path)))
      listed.unknownBelow(path === directory ? '' : path)
      if (plan.selection.isExcluded(path, 'directory')) return
      outcomes.fail(path, error).catch((failure: unknown) => stop.abort(failure))
    }
    const local = inspectFiles(directory, walkAll(plan, directory, onUnread))
    const remote = client.listDetails({ prefix: prefixFromPath(into), signal })
    try {
      for await (const { found } of mergeByName([local, remote, ...state.records])) {
        signal.throwIfAborted()
        const [here, there, ...known] = found
        if (outcomes.isFull()) {
          await fetchBatch()
          await outcomes.written()
        }
        const earlier = known.filter((record) => record !== undefined)
        if (here) listed.found(here.path)
        if (here && !plan.selection.isSelected(here.path)) {
          if (there) outcomes.keepRecord(there, earlier)
        } else if (there) await compareOne(here, there, earlier)
        else if (mostDeletions === undefined) continue
        else if (here?.error !== undefined) await outcomes.fail(here.path, here.error)
        // A file may be gone since its entry was read.
        else if (here?.now) extra.push(here)
      }
    } finally {
      // Also if the rest of the list is not known.
      if (!signal.aborted) await fetchBatch()
      for (const { finishLater } of batch) finishLater(Promise.resolve({ kind: 'unrecorded' }))
      await tasks.settled()
      await fetches.settled()
      await outcomes.written()
    }
    return extra
  }

  async function compareOne(
    here: FoundFile | undefined,
    there: FileDetails,
    known: readonly SyncRecord[],
  ): Promise<void> {
    if (here && here.kind !== 'file') {
      const problem = `It is a ${here.kind} here, and stays`
      return outcomes.fail(here.path, new CommandError(exitCodes.failed, problem))
    }
    if (here?.error !== undefined) {
      outcomes.keepRecord(there, known)
      return outcomes.fail(here.path, here.error)
    }
    const path =
      here?.path ?? pathFromName(there.name, into, [...known, listed.withName(there.name)])
    if (path !== undefined) listed.found(path)
    if (!here && unread.some((prefix) => there.name.startsWith(prefix))) {
      return outcomes.keepRecord(there, known)
    }
    if (path === undefined) return skipName(there)
    if (!plan.selection.isSelected(path)) return outcomes.keepRecord(there, known)
    const proven = known.find(({ etag, size }) => etag === there.etag && size === here?.now?.size)
    if (!plan.isChecksum && proven !== undefined && proven.version === here?.now?.version) {
      return outcomes.finish(
        { path, name: there.name },
        Promise.resolve({ kind: 'unchanged', record: proven }),
      )
    }
    if (!here && !isDryRun && there.size <= smallSize) return collect(path, there)
    await perform(path, there, async (finishLater) => {
      if (here?.now && here.now.size === there.size) {
        const record = await compareContents(plan, here, there, known)
        if (record) return finishLater(Promise.resolve({ kind: 'unchanged', record }))
      }
      const { outcome } = await fetch(path, there, here)
      finishLater(outcome)
    })
  }

  async function skipName({ name }: FileDetails): Promise<void> {
    if (!isPartial(name.slice(prefixFromPath(into).length))) {
      return outcomes.fail(name, new Error('No file here can have that name'))
    }
    // Not a failure: otherwise one upload of such a name would prevent all deletions.
    events.note(`${name} is skipped: downloads that have not ended have such names here`)
  }

  /** The task ends when another request can begin; its outcome comes when the file is safe. */
  async function perform(
    path: string,
    there: FileDetails,
    work: (finishLater: FinishLater) => Promise<void>,
  ): Promise<void> {
    const finishLater = expectOutcome(path, there)
    await tasks.start(() =>
      work(finishLater).catch((error: unknown) => finishLater(failing(error))),
    )
  }

  function expectOutcome(path: string, there: FileDetails): FinishLater {
    const { promise, resolve, reject } = Promise.withResolvers<SyncOutcome>()
    outcomes.finish({ path, name: there.name }, promise)
    return (outcome) => void outcome.catch(outcomeOf).then(resolve, reject)
  }

  /** Adds a small file to those that are fetched together. */
  async function collect(path: string, there: FileDetails): Promise<void> {
    batch.push({ path, there, finishLater: expectOutcome(path, there) })
    if (batch.length >= mostTogether) await fetchBatch()
  }

  async function fetchBatch(): Promise<void> {
    const files = batch.splice(0)
    if (files.length > 0) await tasks.start(() => fetchTogether(files))
  }

  async function fetchTogether(files: SmallFile[]): Promise<void> {
    const names = files.map(({ there }) => there.name)
    try {
      for await (const { download } of client.downloadMany(names, { reuseMemory: true, signal })) {
        const file = files.shift()
        if (file === undefined) return
        await fetches.start(async () => {
          const fetching = fetch(file.path, file.there, undefined, download)
          file.finishLater(fetching.then(({ outcome }) => outcome))
          // Its outcome says why.
          await fetching.catch(() => {})
        })
      }
    } catch (error) {
      for (const { finishLater } of files) finishLater(failing(error))
    }
  }

  /** @throws errors that concern all files */
  function outcomeOf(error: unknown): SyncOutcome {
    signal.throwIfAborted()
    if (isHoldfastError(error, 'not-found')) return { kind: 'unrecorded' }
    if (!(error instanceof Error) || endsTransfers(error) || isFull(error)) throw error
    return { kind: 'failed', error }
  }

  async function end(extra: readonly FoundFile[]): Promise<PullSummary> {
    const { moved, movedBytes, unchanged, failed } = outcomes.counts
    let deleted = 0
    if (extra.length > 0 && failed > 0) {
      events.note('Nothing was deleted, because some files were not fetched')
    } else if (extra.length > 0) deleted = await deleteExtra(plan, extra)
    // Report missing listed paths after the deletions: such a failure must not prevent them.
    await listed.failRest((path, error) => outcomes.fail(path, error))
    await outcomes.close()
    return {
      fetched: moved,
      fetchedBytes: movedBytes,
      unchanged,
      deleted,
      failed: outcomes.counts.failed,
    }
  }
}

async function failing(error: unknown): Promise<never> {
  throw error
}

/** Whether no other file would fit either. */
function isFull(error: Error): boolean {
  const codes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS']
  return 'code' in error && codes.includes(error.code)
}

type Fetching = (
  path: string,
  there: FileDetails,
  here: FoundFile | undefined,
  begin?: FileToDownload['download'],
) => Promise<{ readonly outcome: Promise<SyncOutcome> }>

/** Fetches files; resolves when the connection is free for the next one. */
function createFetching(plan: PullPlan): Fetching {
  const { client, login, directory, signal, isDryRun, events } = plan
  const places = createPlaces(directory)
  const receiver = createReceiver()
  const noDisplay = { update: () => {}, end: () => {} }
  return async (path, { name, size, modified }, here, begin) => {
    if (isDryRun) return { outcome: Promise.resolve({ kind: 'moved', size, record: undefined }) }
    const place = await places.of(posix.dirname(path))
    const identity = {
      login,
      name,
      target: { directory: place.path, base: localName(posix.basename(path)) },
    }
    const note = (text: string) => events.note(text)
    const download = await beginDownload({ name, download: begin }, identity, place.partials, {
      client,
      signal,
      note,
    })
    const fullPath = join(directory, path)
    const placement = {
      identity,
      sync: place.sync,
      modified,
      isHashed: true,
      async beforePlacing() {
        await requireRealDirectory(place.path)
        await requireAsFound(fullPath, here)
      },
      afterPlacing(file: number) {
        fetched = toVersion(fstatSync(file, { bigint: true })).version
      },
    }
    let fetched: string | undefined
    const { placed } = await receiver.receive(download, placement, noDisplay)
    const recorded = async ({ sha256 = '' }: PlacedFile): Promise<SyncOutcome> => {
      const now = await versionOf(fullPath)
      const version = versionToRecord(fetched, now)
      const record = { name, path, size: download.size, version, sha256, etag: download.etag }
      return { kind: 'moved', size: download.size, record }
    }
    return { outcome: placed.then(recorded) }
  }
}

/**
 * The version to record for a file that had version `placed` when it got its name, and has `now` after the sync. Empty if the file may have
 * been edited in between.
 */
export function versionToRecord(placed: string | undefined, now: FileVersion | undefined): string {
  return now === undefined || now.isFresh || now.version !== placed ? '' : now.version
}

/** A directory that files are put into. */
interface Place {
  readonly path: string
  readonly partials: readonly string[]
  readonly sync: DirectorySync
}

/** Directories to remember; they are opened again after so many. */
const mostPlaces = 1000

/** Opens directories below `root`, and makes those that are missing. None is reached through a symbolic link. */
function createPlaces(root: string) {
  const places = new Map<string, Promise<Place>>()
  const open = async (path: string): Promise<Place> => {
    const fullPath = join(root, path)
    if (path !== '.') {
      const parent = await of(posix.dirname(path))
      const made = await makeDirectory(join(parent.path, localName(posix.basename(path))))
      if (made) await parent.sync()
    }
    await requireRealDirectory(fullPath)
    const partials = await listPartials(fullPath)
    return { path: fullPath, partials, sync: createDirectorySync(fullPath) }
  }
  function of(path: string): Promise<Place> {
    const known = places.get(path)
    if (known) return known
    if (places.size >= mostPlaces) places.clear()
    const place = open(path)
    places.set(path, place)
    return place
  }
  return { of }
}

/** Resolves with whether it was missing. */
async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** @throws CommandError if `path` is reached through a symbolic link, or is no directory */
async function requireRealDirectory(path: string): Promise<void> {
  const found = await lstat(path)
  if (found.isDirectory() && (await realpath(path)) === path) return
  throw new CommandError(
    exitCodes.failed,
    `${path} is no directory here, but a ${found.isSymbolicLink() ? 'symbolic link' : 'file'}; nothing is written there.`,
  )
}

/** @throws HoldfastError, `changed-meanwhile`, unless there is here what the comparison has seen */
async function requireAsFound(fullPath: string, here: FoundFile | undefined): Promise<void> {
  const isThere = await lstat(fullPath).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
  const now = isThere ? await versionOf(fullPath) : undefined
  if (isThere && now === undefined) {
    throw new CommandError(exitCodes.failed, `${fullPath} is no regular file here, and stays`)
  }
  if (now?.version === here?.now?.version) return
  throw new HoldfastError('changed-meanwhile', 'The file here has changed meanwhile, and stays')
}

/**
 * Deletes files that are only here; resolves with how many. Lists the server's files again before: what was stored since stays, and so does
 * what has changed here.
 *
 * @throws CommandError, before anything is deleted, if the server has no files any more, or more files would be deleted than allowed
 */
async function deleteExtra(plan: PullPlan, extra: readonly FoundFile[]): Promise<number> {
  const { client, directory, into, isDryRun, mostDeletions = 0, signal, events } = plan
  const gone: FoundFile[] = []
  let files = 0
  async function* only() {
    yield* extra
  }
  async function* listed() {
    for await (const name of client.list({ prefix: prefixFromPath(into), signal })) yield { name }
  }
  for await (const { found } of mergeByName([only(), listed()])) {
    const [here, there] = found
    if (there) files++
    else if (here) gone.push(here)
  }
  if (files === 0) {
    throw new CommandError(exitCodes.failed, 'Nothing was deleted: the server has no files now')
  }
  // The check at the beginning missed these files if a directory could not be read, or the server has changed since.
  if (gone.length > mostDeletions) {
    throw new CommandError(
      exitCodes.failed,
      `Nothing was deleted: more than ${mostDeletions} files are not on the server; --max-delete allows more`,
    )
  }
  let deleted = 0
  const syncs = new Map<string, DirectorySync>()
  for (const { path, name, now } of gone) {
    signal.throwIfAborted()
    const fullPath = join(directory, path)
    const parent = posix.dirname(fullPath)
    if (!isDryRun) {
      await requireRealDirectory(parent)
      if (!now || (await versionOf(fullPath))?.version !== now.version) continue
      await unlink(fullPath)
      syncs.set(parent, syncs.get(parent) ?? createDirectorySync(parent))
    }
    deleted++
    await events.did({ action: 'delete', name, path })
  }
  for (const sync of syncs.values()) await sync()
  return deleted
}
