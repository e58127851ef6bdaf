import { realpath } from 'node:fs/promises'
import { prefixFromPath, type FileDetails, isHoldfastError } from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import { inspectFiles, type FoundFile } from '../local-files.ts'
import { createListedPaths, createOutcomes, limitTasks } from './run-outcomes.ts'
import {
  checkNames,
  mayDelete,
  walkSelected,
  type SyncPlan,
  type SyncSummary,
} from './sync-plan.ts'
import type { SyncRecord } from './sync-state.ts'
import { createTransfers, smallSize, type SyncOutcome } from './transfers.ts'
import { CommandError, exitCodes } from '../errors.ts'

const batchLimits = { files: 1000, bytes: 4 * 1024 ** 2 }

/**
 * Makes the server's files equal to those of a directory. Sends what is missing or differs, and deletes what is only there, if allowed.
 * After an early end, the same call continues with the rest.
 *
 * @throws CommandError for what is refused before anything is changed; errors that concern all files; the signal's reason
 */
export async function syncDirectory(given: SyncPlan): Promise<SyncSummary> {
  const total = await checkNames(given, 'there')
  const stop = new AbortController()
  // The real path, with which opened files are compared.
  const directory = await realpath(given.directory)
  const plan = { ...given, directory, signal: AbortSignal.any([given.signal, stop.signal]) }
  const run = createRun(plan, total, stop)
  const extra = await run.compareAll()
  plan.signal.throwIfAborted()
  return run.end(extra)
}

/** A batch that is being collected. */
interface OpenBatch {
  readonly files: { readonly file: FoundFile; readonly end: (outcome: SyncOutcome) => void }[]
  bytes: number
}

function createRun(plan: SyncPlan, total: number, stop: AbortController) {
  const { client, directory, into, signal, state, events, isDryRun, mostDeletions } = plan
  let isWhole = true
  const outcomes = createOutcomes(plan, 'send', total, stop)
  const listed = createListedPaths(plan)
  const transfers = createTransfers(plan)
  const tasks = limitTasks(plan.concurrency, (error) => stop.abort(error))
  let batch: OpenBatch | undefined

  return { compareAll, end }

  /** Resolves with the names that only the server has. */
  async function compareAll(): Promise<readonly string[]> {
    const extra: string[] = []
    const onUnread = (path: string, error: Error) => {
      isWhole = false
      listed.unknownBelow(path === directory ? '' : path)
      outcomes.fail(path, error).catch((failure: unknown) => stop.abort(failure))
    }
    const local = inspectFiles(directory, walkSelected(plan, directory, onUnread))
    const remote = client.listDetails({ prefix: prefixFromPath(into), signal })
    try {
      for await (const { name, found } of mergeByName([local, remote, ...state.records])) {
        signal.throwIfAborted()
        const [here, there, ...known] = found
        if (outcomes.isFull()) await finishAll()
        const earlier = known.filter((record) => record !== undefined)
        for (const { path } of earlier) if (path !== undefined && there) listed.found(path)
        if (here) {
          listed.found(here.path)
          await compareOne(here, there, earlier)
        } else {
          if (!isWhole || !plan.selection.isWhole) outcomes.keepRecord(there, earlier)
          if (there && mostDeletions !== undefined && mayDelete(plan, name, earlier))
            extra.push(name)
        }
      }
      await sendBatch()
    } finally {
      await tasks.settled()
      for (const { end } of batch?.files ?? []) end({ kind: 'unrecorded' })
      await outcomes.written()
    }
    return extra
  }

  async function compareOne(
    here: FoundFile,
    there: FileDetails | undefined,
    known: readonly SyncRecord[],
  ): Promise<void> {
    if (here.kind !== 'file') return outcomes.skip(here)
    if (here.error !== undefined) {
      outcomes.keepRecord(there, known)
      return outcomes.fail(here.path, here.error)
    }
    const { now } = here
    if (now === undefined) return
    const proven = known.find((record) => record.etag === there?.etag && record.size === now.size)
    if (there?.size !== now.size) await send(here, now.size)
    else if (proven?.version === now.version && !plan.isChecksum)
      outcomes.finish(here, Promise.resolve({ kind: 'unchanged', record: proven }))
    else await perform(here, () => transfers.compare(here, there, known))
  }

  async function send(here: FoundFile, size: number): Promise<void> {
    if (size > smallSize || isDryRun) return perform(here, () => transfers.send(here))
    const isFull =
      batch && (batch.files.length >= batchLimits.files || batch.bytes + size > batchLimits.bytes)
    if (isFull) await sendBatch()
    batch ??= { files: [], bytes: 0 }
    const { promise, resolve } = Promise.withResolvers<SyncOutcome>()
    batch.files.push({ file: here, end: resolve })
    batch.bytes += size
    outcomes.finish(here, promise)
  }

  async function sendBatch(): Promise<void> {
    if (batch === undefined) return
    const { files } = batch
    batch = undefined
    const ends = new Map(files.map(({ file, end }) => [file, end]))
    await tasks.start(async () => {
      try {
        await transfers.sendBatch([...ends.keys()], (file, outcome) => ends.get(file)?.(outcome))
      } finally {
        // Files without an outcome may or may not be stored.
        for (const end of ends.values()) end({ kind: 'unrecorded' })
      }
    })
  }

  /** Sends the open batch before it waits: its files have records, too. */
  async function finishAll(): Promise<void> {
    await sendBatch()
    await outcomes.written()
  }

  async function perform(here: FoundFile, work: () => Promise<SyncOutcome>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<SyncOutcome>()
    outcomes.finish(here, promise)
    await tasks.start(async () => {
      try {
        resolve(await work())
      } finally {
        resolve({ kind: 'unrecorded' })
      }
    })
  }

  /** Partial uploads of files that are gone or have changed count at the server until they are discarded. */
  async function discardUnasked(): Promise<void> {
    for await (const url of state.uploads.takeUnasked()) {
      await client.discardUpload(url, { signal }).catch(() => {
        // It expires by itself.
      })
    }
  }

  async function end(extra: readonly string[]): Promise<SyncSummary> {
    const { moved, movedBytes, unchanged, skipped, failed } = outcomes.counts
    let deleted = 0
    if (extra.length > 0 && failed > 0) {
      events.note(`Nothing was deleted, because some files were not read or sent`)
    } else if (extra.length > 0) deleted = await deleteExtra(plan, extra)
    // What was not selected was not asked for, either.
    if (!isDryRun && failed === 0 && plan.selection.isWhole) await discardUnasked()
    // Report missing listed paths after the deletions: such a failure must not prevent them.
    await listed.failRest((path, error) => outcomes.fail(path, error))
    await outcomes.close()
    return {
      sent: moved,
      sentBytes: movedBytes,
      unchanged,
      deleted,
      skipped,
      failed: outcomes.counts.failed,
    }
  }
}

/**
 * Deletes files that only the server has; resolves with how many. Reads the directory again before: what was added since stays.
 *
 * @throws CommandError, before anything is deleted, if they are too many or the directory cannot be read any more
 */
async function deleteExtra(plan: SyncPlan, extra: readonly string[]): Promise<number> {
  const { client, directory, mostDeletions = 0, isDryRun, signal, events } = plan
  if (extra.length > mostDeletions) throw refusal(`more than ${mostDeletions} files`)
  let files = 0
  let deleted = 0
  const gone: string[] = []
  const onUnread = (path: string) => {
    throw refusal('files', `${path} cannot be read`)
  }
  const local = walkSelected(plan, directory, onUnread)
  for await (const { name, found } of mergeByName([local, named(extra)])) {
    const [here] = found
    if (here) files++
    else gone.push(name)
  }
  if (files === 0 && gone.length > 0) throw refusal('files', `${directory} is empty now`)
  const failures: Error[] = []
  for await (const { name, error } of isDryRun
    ? named(gone)
    : client.deleteMany(gone, { signal })) {
    if (error && !isHoldfastError(error, 'not-found')) {
      failures.push(error)
      continue
    }
    deleted++
    await events.did({ action: 'delete', name })
  }
  // The server has deleted the other files.
  if (failures[0]) throw failures[0]
  return deleted
}

async function* named(names: readonly string[]) {
  for (const name of names) yield { name, error: undefined }
}

function refusal(what: string, reason?: string): CommandError {
  return new CommandError(
    exitCodes.failed,
    `Nothing was deleted: ${what} exist only on the server${reason === undefined ? '' : `, and ${reason}`}`,
  )
}
