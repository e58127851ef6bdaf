import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../settings/flags.ts'
import { isReaderGone, standardError, printable } from '../../terminal/print.ts'
import { usageError } from '../errors/command-error.ts'
import { createReport, type Report } from '../output/report.ts'
import { withRemote } from '../session/with-remote.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withConcurrency,
  withJson,
  withWords,
} from '../verb/client-verb.ts'
import { syncDirectory } from './sync-directory.ts'
import type { SyncAction, SyncEvents, SyncSummary, SyncProgress } from './sync-plan.ts'
import { noSyncState, openSyncState, stateDirectory, type SyncState } from './sync-state.ts'
import type { ProgressOutput } from '../../copy/show-progress.ts'

/** `holdfast sync DIR`. */
export const sync: ClientVerb = {
  command: 'sync [names..]',
  describe: 'Send what is new or changed in a directory',
  flags: ['into', 'concurrency', 'dry-run', 'delete', 'max-delete'],
  options: (yargs) =>
    withConcurrency(withJson(withWords(yargs, 'The directory')))
      // Each request may hold a form of small files in memory.
      .default('concurrency', '4')
      .option('into', {
        type: 'string',
        requiresArg: true,
        describe:
          'A folder that the names on the server begin with: "photos" makes "photos - a.jpg" of a.jpg',
      })
      .option('dry-run', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Print what would be sent and deleted, and change nothing',
      })
      .option('delete', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Delete files on the server that are not in the directory',
      })
      .option('max-delete', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '100',
        describe: 'With --delete: change nothing if more files than this would be deleted',
      })
      .example('$0 sync ./photos --into photos', 'photos/sea/a.jpg becomes "photos - sea - a.jpg"')
      .example('$0 sync ./photos --into photos --delete --dry-run', '')
      .epilog(
        'Names have no slash, so those of a path are joined by " - ". Symbolic links and special files are not sent. The same command again continues where an earlier one ended.',
      ),
  run: runSync,
}

const defaultMostDeletions = 100

/** Sends what is new or changed in a directory; resolves with the exit code. */
async function runSync(argv: VerbArguments): Promise<number> {
  // Otherwise the heap of many short-lived objects grows to three times the size before it is collected. Not while this module is
  // loaded, which every command does: a server would answer a third fewer requests.
  setFlagsFromString('--optimize-for-size')
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
        const realDirectory = await realpath(directory).catch(() => resolve(directory))
        const identity = [login.url, login.name, realDirectory, into]
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
    if (text !== undefined) throw usageError('--max-delete needs --delete.')
    return undefined
  }
  if (text === undefined) return defaultMostDeletions
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw usageError(`--max-delete must be a whole number, not "${text}".`)
}

interface SyncDisplay {
  readonly update: (progress: SyncProgress) => void
  /** Writes a separate line above the progress. */
  readonly note: (line: string) => void
  /** Shows nothing afterwards. */
  readonly end: () => void
}

/** Milliseconds between two updates: of a line that is redrawn, and of plain ones. */
const intervals = { redrawn: 200, plain: 30_000 }

const eraseLine = '\r\u001b[K'

/**
 * Shows progress on a terminal: in one line that is redrawn, or, if the environment asks for plain output, as a line every half minute.
 * Elsewhere, as in a log, it shows none.
 */
export function showSyncProgress(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
): SyncDisplay {
  const isPlain = Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb'
  const isTerminal = output.isTTY === true
  const isRedrawn = isTerminal && !isPlain
  let latest: SyncProgress | undefined
  const show = () => {
    if (!latest || !isTerminal) return
    const line = lineOf(latest)
    if (isRedrawn) output.write(eraseLine + line.slice(0, (output.columns || 80) - 1))
    else output.write(`${line}\n`)
    latest = undefined
  }
  const timer = setInterval(show, isRedrawn ? intervals.redrawn : intervals.plain)
  return {
    update: (progress) => void (latest = progress),
    note: (line) => void output.write(isRedrawn ? `${eraseLine}${line}\n` : `${line}\n`),
    end() {
      clearInterval(timer)
      if (isRedrawn) output.write(eraseLine)
    },
  }
}

function lineOf({ checked, total, sent, sentBytes }: SyncProgress): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((checked / total) * 100))
  return `${percent}%  ${checked} of ${total} files  ${sent} sent  ${formatBytes(sentBytes)}`
}
