import { setFlagsFromString } from 'node:v8'
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatBytes, messageOf } from '@holdfast/core'
import type { Argv } from 'yargs'
import { visible } from '@holdfast/server/visible'
import { withSelection, listedIn, selectionIn } from '../selection.ts'
import {
  type ClientVerb,
  type VerbArguments,
  withConcurrency,
  withJson,
  withLimitRate,
  withWords,
  namesIn,
  textIn,
} from '../client-verb.ts'
import { pullDirectory, type PullSummary } from './pull-directory.ts'
import { syncDirectory } from './sync-directory.ts'
import type { SyncSummary, SyncAction, SyncEvents, SyncPlan, SyncProgress } from './sync-plan.ts'
import { verifyDirectory, type VerifySummary } from './verify-directory.ts'
import { parseConcurrency } from '../../flags.ts'
import {
  createStatusLine,
  isReaderGone,
  progressMode,
  type ProgressOutput,
  standardError,
} from '../../terminal/print.ts'
import { usageError } from '../errors.ts'
import type { Login } from '../profile.ts'
import { createReport, type Report } from '../report.ts'
import { withRemote } from '../session.ts'
import { noSyncState, openSyncState, stateDirectory, type SyncState } from './sync-state.ts'
import { off } from '../../terminal/yargs.ts'

const flags = ['into', 'concurrency', 'dry-run', 'delete', 'max-delete', 'checksum'] as const

/** `holdfast sync DIR`. */
export const sync: ClientVerb = {
  command: 'sync [names..]',
  words: 'DIRECTORY',
  describe: 'Send what is new or changed in a directory',
  flags: [...flags],
  options: (yargs) =>
    withChanges(withDirectory(yargs), 'sent', 'on the server that are not in the directory')
      // Each request may hold a form of small files in memory.
      .default('concurrency', '4')
      .example('$0 sync ./photos --into photos', 'photos/sea/a.jpg becomes "photos - sea - a.jpg"')
      .example('$0 sync ./photos --into photos --delete --dry-run', '')
      .example("$0 sync . --exclude node_modules/ --exclude '*.log'", '')
      .epilog(
        'Names have no slash, so those of a path are joined by " - ". Symbolic links and special files are not sent. The same command again continues where an earlier one ended.',
      ),
  run: (argv) => run(argv, 'sent', syncDirectory),
}

/** `holdfast pull DIR`. */
export const pull: ClientVerb = {
  command: 'pull [names..]',
  words: 'DIRECTORY',
  describe: 'Fetch what is new or changed on the server into a directory',
  flags: [...flags],
  options: (yargs) =>
    withChanges(withDirectory(yargs), 'fetched', 'here that are not on the server')
      .example('$0 pull ./photos --into photos', '"photos - a.jpg" becomes photos/a.jpg')
      .example('$0 pull ./photos --into photos --delete --dry-run', '')
      .epilog(
        'The directory gets what the server has: files that differ are replaced, also if they were changed here; --dry-run shows them. Each file appears only when it is complete and synced, and gets the time that it has on the server. A file that sync has sent from this directory gets its path again; any other gets its name, since a name does not say where a path had its slashes. Nothing is written through symbolic links. The same command again continues where an earlier one ended.',
      ),
  run: (argv) => run(argv, 'fetched', pullDirectory),
}

/** `holdfast verify DIR`. */
export const verify: ClientVerb = {
  command: 'verify [names..]',
  words: 'DIRECTORY',
  describe: 'Read a directory and its files on the server, and report what differs',
  flags: ['into', 'concurrency'],
  options: (yargs) =>
    withDirectory(yargs)
      .default('concurrency', '4')
      .example('$0 verify ./photos --into photos', '')
      .epilog(
        'Reads every byte on both sides and compares their SHA-256, whatever earlier runs have recorded. Each difference is a line on standard output, and the exit code is 1 if there is one.',
      ),
  run: (argv) => run(argv, 'read', verifyDirectory),
}

function withDirectory(yargs: Argv): Argv {
  const common = withConcurrency(withJson(withWords(yargs, 'The directory')))
  return withLimitRate(withSelection(common, 'paths in the directory')).option('into', {
    type: 'string',
    requiresArg: true,
    describe:
      'A folder that the names on the server begin with: "photos" makes "photos - a.jpg" of a.jpg',
  })
}

function withChanges(yargs: Argv, done: string, deleted: string): Argv {
  return yargs
    .option('dry-run', {
      ...off,
      describe: `Print what would be ${done} and deleted, and change nothing`,
    })
    .option('checksum', {
      ...off,
      describe:
        'Compare files by their SHA-256, also if their sizes and times have stayed the same',
    })
    .option('delete', { ...off, describe: `Delete files ${deleted}` })
    .option('max-delete', {
      type: 'string',
      requiresArg: true,
      defaultDescription: '100',
      describe: 'With --delete: change nothing if more files than this would be deleted',
    })
}

/** What a run has done with how many files. */
type Summary = SyncSummary | PullSummary | VerifySummary

async function run(
  argv: VerbArguments,
  done: 'sent' | 'fetched' | 'read',
  work: (plan: DirectoryPlan) => Promise<Summary>,
): Promise<number> {
  // Otherwise the heap of many short-lived objects grows to three times the size before it is collected. Set when the verb runs: every
  // command loads this module, and with the flag a server would answer a third fewer requests.
  setFlagsFromString('--optimize-for-size')
  return runInDirectory(argv, done, async (plan) => {
    const summary = await work(plan)
    return { summary, text: summaryText(summary, done, plan.isDryRun) }
  })
}

function summaryText(given: Summary, done: 'sent' | 'fetched' | 'read', isDryRun: boolean): string {
  const summary: Readonly<Record<string, number | undefined>> = { ...given }
  const files = summary[done] ?? 0
  const bytes = summary[`${done}Bytes`] ?? 0
  const would = { sent: 'Would send', fetched: 'Would fetch', read: 'Read' }
  const did = { sent: 'Sent', fetched: 'Fetched', read: 'Read' }
  const counted = (count: number | undefined, text: string) =>
    count === undefined || count === 0 ? [] : [text]
  const { unchanged, same, differing, onlyHere, onlyThere, deleted, skipped, failed } = summary
  const parts = [
    `${(isDryRun ? would : did)[done]} ${files === 1 ? '1 file' : `${files} files`}, ${formatBytes(bytes)}`,
    ...counted(deleted, `${isDryRun ? 'would delete' : 'deleted'} ${deleted}`),
    ...(unchanged === undefined ? [] : [`${unchanged} unchanged`]),
    ...(same === undefined ? [] : [`${same} the same`]),
    ...counted(differing, `${differing} different`),
    ...counted(onlyHere, `${onlyHere} only here`),
    ...counted(onlyThere, `${onlyThere} only on the server`),
    ...counted(skipped, `${skipped} skipped`),
    ...counted(failed, `${failed} failed`),
  ]
  return `${parts.join('; ')}.`
}

/** What a verb that compares a directory with the server has to do. */
interface DirectoryPlan extends SyncPlan {
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
async function runInDirectory(
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
    const reason = messageOf(error)
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
      const text = visible(textOf(action))
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

interface SyncDisplay {
  readonly update: (progress: SyncProgress) => void
  /** Writes a separate line above the progress. */
  readonly note: (line: string) => void
  /** Shows nothing afterwards. */
  readonly end: () => void
}

/** Milliseconds between two plain lines. */
const plainMs = 30_000

/**
 * Shows progress on a terminal: in one line that is redrawn, or, if the environment asks for plain output, as a line every half minute.
 * Elsewhere, as in a log, it shows none.
 *
 * @param options `done`: what is done with files, such as `sent`
 */
export function showSyncProgress(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
  { done = 'sent', isQuiet = false }: { readonly done?: string; readonly isQuiet?: boolean } = {},
): SyncDisplay {
  let latest: SyncProgress | undefined
  const mode = progressMode(output, environment, { plainMs, isQuiet })
  const { note, erase } = createStatusLine(output, mode, (width) => {
    if (!latest) return undefined
    const line = lineOf(latest, done).slice(0, width)
    latest = undefined
    return line
  })
  return { update: (progress) => void (latest = progress), note, end: erase }
}

function lineOf({ checked, total, moved, movedBytes }: SyncProgress, done: string): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((checked / total) * 100))
  return `${percent}%  ${checked} of ${total} files  ${moved} ${done}  ${formatBytes(movedBytes)}`
}
