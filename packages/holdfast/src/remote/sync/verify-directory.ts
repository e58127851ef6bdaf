import { realpath } from 'node:fs/promises'
import { prefixFromPath, type FileDetails } from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import { CommandError, endsTransfers, exitCodes } from '../errors.ts'
import { isMissing, inspectFiles, type FoundFile } from '../local-files.ts'
import { createListedPaths, limitTasks } from './run-outcomes.ts'
import { checkNames, pathFromName, walkAll, type SyncPlan } from './sync-plan.ts'
import { digestOnServer, withUnchanged } from './transfers.ts'

/** The outcome of `verify`. */
export interface VerifySummary {
  readonly read: number
  /** The bytes of the files that were read here. Files on the server are not added. */
  readonly readBytes: number
  readonly same: number
  readonly differing: number
  readonly onlyHere: number
  readonly onlyThere: number
  readonly skipped: number
  readonly failed: number
}

/**
 * Reads the files of a directory and those of the server, and reports each that is not the same on both sides. Trusts no record.
 *
 * @throws errors that concern all files; the signal's reason
 */
export async function verifyDirectory(given: SyncPlan): Promise<VerifySummary> {
  const total = await checkNames({ ...given, mostDeletions: undefined }, 'there')
  const stop = new AbortController()
  const directory = await realpath(given.directory)
  const plan = { ...given, directory, signal: AbortSignal.any([given.signal, stop.signal]) }
  const { client, into, signal, events } = plan
  const counts = {
    read: 0,
    readBytes: 0,
    same: 0,
    differing: 0,
    onlyHere: 0,
    onlyThere: 0,
    skipped: 0,
    failed: 0,
  }
  const tasks = limitTasks(plan.concurrency, (error) => stop.abort(error))
  const fail = async (path: string, error: unknown) => {
    counts.failed++
    await events.failed(path, error)
  }
  const listed = createListedPaths(plan)
  const onUnread = (path: string, error: Error) => {
    listed.unknownBelow(path === directory ? '' : path)
    if (plan.selection.isExcluded(path, 'directory')) return
    fail(path, error).catch((failure: unknown) => stop.abort(failure))
  }
  const local = inspectFiles(directory, walkAll(plan, directory, onUnread))
  const remote = client.listDetails({ prefix: prefixFromPath(into), signal })
  try {
    for await (const { found } of mergeByName([local, remote, ...plan.state.records])) {
      signal.throwIfAborted()
      const [here, there, ...known] = found
      if (here) listed.found(here.path)
      if (here && !plan.selection.isSelected(here.path)) continue
      if (here) await tasks.start(() => verifyOne(here, there))
      const path = there && pathFromName(there.name, into, [...known, listed.withName(there.name)])
      if (path !== undefined) listed.found(path)
      if (!here && there && (path === undefined || plan.selection.isSelected(path))) {
        await noteOnlyThere(there)
      }
    }
  } finally {
    await tasks.settled()
  }
  signal.throwIfAborted()
  await listed.failRest(fail)
  await plan.state.close('forget').catch(() => {})
  return counts

  async function verifyOne(here: FoundFile, there: FileDetails | undefined): Promise<void> {
    const { path, name, kind, error } = here
    try {
      if (kind !== 'file' && there) {
        counts.differing++
        await differ(there, path, `a ${kind} here, a file on the server`)
      } else if (kind !== 'file' && plan.selection.listed.has(path)) {
        await fail(path, new CommandError(exitCodes.failed, `It is a ${kind}, and is left out`))
      } else if (kind !== 'file') {
        counts.skipped++
        await events.did({ action: 'skip', path, name, reason: kind })
      } else if (error !== undefined) await fail(path, error)
      else await compare(here, there)
    } catch (failure) {
      signal.throwIfAborted()
      if (isMissing(failure)) return there && noteOnlyThere(there)
      if (!(failure instanceof Error) || endsTransfers(failure)) throw failure
      await fail(path, failure)
    }
    const moved = counts.read
    events.progress({ checked: moved, total, moved, movedBytes: counts.readBytes })
  }

  function noteOnlyThere(there: FileDetails): Promise<void> {
    counts.onlyThere++
    return differ(there, undefined, 'only on the server')
  }

  async function compare(here: FoundFile, there: FileDetails | undefined): Promise<void> {
    if (!there) {
      counts.onlyHere++
      return differ(here, here.path, 'only here')
    }
    const { size, sha256 } = await withUnchanged(directory, here.path, (file) =>
      file.readDigest(signal),
    )
    counts.read++
    counts.readBytes += size
    const digest = size === there.size ? await digestOnServer(client, there, signal) : ''
    if (digest === undefined) throw changed()
    if (digest === sha256) counts.same++
    else {
      counts.differing++
      const how = size === there.size ? 'the contents differ' : 'the sizes differ'
      await differ(there, here.path, how)
    }
  }

  async function differ(
    { name }: { readonly name: string },
    path: string | undefined,
    how: string,
  ): Promise<void> {
    await events.did({ action: 'differ', name, ...(path !== undefined && { path }), how })
  }
}

function changed(): CommandError {
  return new CommandError(exitCodes.retry, 'The file has changed meanwhile on the server')
}
