import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../settings/parse-concurrency.ts'
import { isReaderGone } from '../../terminal/print.ts'
import { standardError } from '../../terminal/standard-error.ts'
import { usageError } from '../errors/command-error.ts'
import { printable } from '../output/printable.ts'
import { createReport, type Report } from '../output/report.ts'
import { withRemote } from '../session/with-remote.ts'
import { namesIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { showSyncProgress } from './show-sync-progress.ts'
import { syncDirectory } from './sync-directory.ts'
import type { SyncAction, SyncEvents, SyncSummary } from './sync-plan.ts'
import { noSyncState, openSyncState, stateDirectory, type SyncState } from './sync-state.ts'

const defaultMostDeletions = 100

// The heap of many short-lived objects would grow to three times the size before it is collected.
setFlagsFromString('--optimize-for-size')

/** Sends what is new or changed in a directory; resolves with the exit code. */
export async function runSync(argv: VerbArguments): Promise<number> {
  const directory = directoryIn(argv)
  const into = intoIn(argv)
  const mostDeletions = mostDeletionsIn(argv)
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const isDryRun = argv['dry-run'] === true
  const isJson = argv.json === true
  const display = showSyncProgress(standardError(), process.env)
  const report = createReport(isJson, (line) => display.note(line))
  try {
    return await withRemote(
      argv,
      async ({ client, login, signal }) => {
        const place = await realpath(directory).catch(() => resolve(directory))
        const identity = [login.url, login.name, place, into]
        const state = await openState(identity, report)
        const events = { ...eventsOf(report, { isDryRun, isJson }), progress: display.update }
        const plan = {
          client,
          directory,
          into,
          isDryRun,
          mostDeletions,
          concurrency,
          signal,
          state,
          events,
        }
        const summary = await syncDirectory(plan).catch(async (error: unknown) => {
          await state.close('add').catch(() => {})
          throw error
        })
        display.end()
        await report.result({ summary }, summaryText(summary, isDryRun)).catch((error: unknown) => {
          // All is done.
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
    report.note(`What is sent cannot be remembered, so the next run reads all files: ${reason}`)
    return noSyncState
  }
}

function eventsOf(
  report: Report,
  { isDryRun, isJson }: { readonly isDryRun: boolean; readonly isJson: boolean },
): Omit<SyncEvents, 'progress'> {
  return {
    async did(action) {
      if (isDryRun) await report.result(action, printable(textOf(action)))
      else if (isJson) await report.done(action, '')
    },
    failed: (path, error) => report.failed(path, error),
    note: (text) => report.note(text),
  }
}

function textOf(action: SyncAction): string {
  if (action.action === 'delete') return `delete ${action.name}`
  if (action.action === 'skip') return `skip ${action.path} (${action.reason})`
  return `send ${action.path} (${formatBytes(action.size)})`
}

function summaryText(summary: SyncSummary, isDryRun: boolean): string {
  const { sent, sentBytes, unchanged, deleted, skipped, failed } = summary
  const parts = [
    `${isDryRun ? 'Would send' : 'Sent'} ${sent === 1 ? '1 file' : `${sent} files`}, ${formatBytes(sentBytes)}`,
    ...(deleted > 0 ? [`${isDryRun ? 'would delete' : 'deleted'} ${deleted}`] : []),
    `${unchanged} unchanged`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return `${parts.join('; ')}.`
}

function directoryIn(argv: VerbArguments): string {
  const [directory, second] = namesIn(argv)
  if (directory === undefined || directory === '' || second !== undefined) {
    throw usageError('Say one directory', ['Such as: holdfast sync ./photos'])
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

function mostDeletionsIn(argv: VerbArguments): number | undefined {
  const text = textIn(argv, 'max-delete')
  if (argv['delete'] !== true) {
    if (text !== undefined) throw usageError('--max-delete is of no use without --delete.')
    return undefined
  }
  if (text === undefined) return defaultMostDeletions
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw usageError(`--max-delete must be a whole number, not "${text}".`)
}
