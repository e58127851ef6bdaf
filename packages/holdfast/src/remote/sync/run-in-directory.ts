import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../settings/flags.ts'
import { isReaderGone, printable, standardError } from '../../terminal/print.ts'
import { usageError } from '../errors/command-error.ts'
import type { Login } from '../login/profile.ts'
import { listedIn, selectionIn } from '../names/selection-flags.ts'
import { createReport, type Report } from '../output/report.ts'
import { withRemote } from '../session/with-remote.ts'
import { namesIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { showSyncProgress } from './show-sync-progress.ts'
import type { SyncAction, SyncEvents, SyncPlan } from './sync-plan.ts'
import { noSyncState, openSyncState, stateDirectory, type SyncState } from './sync-state.ts'

/** What a verb that compares a directory with the server has to do. */
export interface DirectoryPlan extends SyncPlan {
  readonly login: Login
}

interface DirectoryOutcome {
  readonly summary: object
  /** The same for people. */
  readonly text: string
}

/**
 * Runs a verb on the directory that the command line names; resolves with the exit code.
 *
 * @param done what it does with files, such as `sent`
 */
export async function runInDirectory(
  argv: VerbArguments,
  done: string,
  work: (plan: DirectoryPlan) => Promise<DirectoryOutcome>,
): Promise<number> {
  const directory = directoryIn(argv)
  const into = intoIn(argv)
  const mostDeletions = mostDeletionsIn(argv)
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const selection = selectionIn(argv, await listedIn(argv))
  const isDryRun = argv['dry-run'] === true
  const isChecksum = argv['checksum'] === true
  const isJson = argv.json === true
  const isQuiet = argv['quiet'] === true
  const display = showSyncProgress(standardError(), process.env, { done, isQuiet })
  const report = createReport({ isJson, isQuiet }, (line) => display.note(line))
  try {
    return await withRemote(
      argv,
      async ({ client, login, signal }) => {
        const realDirectory = await realpath(directory).catch(() => resolve(directory))
        const identity = [login.url, login.name, realDirectory, into]
        const state = await openState(identity, report)
        const events = { ...eventsOf(report, { isDryRun, isJson }), progress: display.update }
        const plan = {
          client,
          login,
          directory,
          into,
          isDryRun,
          isChecksum,
          mostDeletions,
          selection,
          concurrency,
          signal,
          state,
          events,
        }
        const { summary, text } = await work(plan).catch(async (error: unknown) => {
          await state.close('add').catch(() => {})
          throw error
        })
        display.end()
        if (isQuiet && !isJson && !isDryRun) return
        await report.result({ summary }, text).catch((error: unknown) => {
          // All is done, so a closed standard output is no error.
          if (!isReaderGone(error)) throw error
        })
      },
      report,
    )
  } finally {
    display.end()
  }
}

async function openState(identity: readonly string[], report: Report): Promise<SyncState> {
  try {
    return await openSyncState(stateDirectory(process.env, identity))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    report.note(
      `The record of this run cannot be written, so the next run reads all files: ${reason}`,
    )
    return noSyncState
  }
}

function eventsOf(
  report: Report,
  { isDryRun, isJson }: { readonly isDryRun: boolean; readonly isJson: boolean },
): Omit<SyncEvents, 'progress'> {
  return {
    async did(action) {
      const text = printable(textOf(action))
      if (action.action === 'differ') await report.difference(action, text)
      else if (isDryRun) await report.result(action, text)
      else if (isJson) await report.done(action, '')
    },
    failed: (path, error) => report.failed(path, error),
    note: (text) => report.note(text),
  }
}

function textOf(action: SyncAction): string {
  if (action.action === 'delete') return `delete ${action.path ?? action.name}`
  if (action.action === 'skip') return `skip ${action.path} (${action.reason})`
  if (action.action === 'differ') return `${action.path ?? action.name}: ${action.how}`
  const { path, name, size } = action
  const facts = `(${formatBytes(size)})`
  if (path === name) return `${action.action} ${path} ${facts}`
  return action.action === 'send'
    ? `send ${path} as "${name}" ${facts}`
    : `fetch "${name}" as ${path} ${facts}`
}

function directoryIn(argv: VerbArguments): string {
  const [directory, second] = namesIn(argv)
  if (directory === undefined || directory === '' || second !== undefined) {
    throw usageError('Say one directory', [`Such as: holdfast ${String(argv['_'])} ./photos`])
  }
  return directory
}

function intoIn(argv: VerbArguments): string {
  const into = textIn(argv, 'into') ?? ''
  if (Buffer.byteLength(into) > 100) throw usageError('--into is longer than 100 bytes.')
  return into
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
}

const defaultMostDeletions = 100

function mostDeletionsIn(argv: VerbArguments): number | undefined {
  const text = textIn(argv, 'max-delete')
  if (argv['delete'] !== true) {
    if (text !== undefined) throw usageError('--max-delete needs --delete.')
    return undefined
  }
  if (text === undefined) return defaultMostDeletions
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw usageError(`--max-delete must be a whole number, not "${text}".`)
}
