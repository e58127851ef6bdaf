import { setFlagsFromString } from 'node:v8'
import { formatBytes } from '@holdfast/core'
import { withSelection } from '../names/selection-flags.ts'
import {
  type ClientVerb,
  type VerbArguments,
  withConcurrency,
  withJson,
  withLimitRate,
  withWords,
} from '../verb/client-verb.ts'
import type { Argv } from 'yargs'
import { pullDirectory, type PullSummary } from './pull-directory.ts'
import { runInDirectory, type DirectoryPlan } from './run-in-directory.ts'
import { syncDirectory } from './sync-directory.ts'
import type { SyncSummary } from './sync-plan.ts'
import { verifyDirectory, type VerifySummary } from './verify-directory.ts'

const flags = ['into', 'concurrency', 'dry-run', 'delete', 'max-delete', 'checksum'] as const

/** `holdfast sync DIR`. */
export const sync: ClientVerb = {
  command: 'sync [names..]',
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
      type: 'boolean',
      default: false,
      defaultDescription: 'no',
      describe: `Print what would be ${done} and deleted, and change nothing`,
    })
    .option('checksum', {
      type: 'boolean',
      default: false,
      defaultDescription: 'no',
      describe:
        'Compare files by their SHA-256, also if their sizes and times have stayed the same',
    })
    .option('delete', {
      type: 'boolean',
      default: false,
      defaultDescription: 'no',
      describe: `Delete files ${deleted}`,
    })
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
  // Otherwise the heap of many short-lived objects grows to three times the size before it is collected. Not while this module is
  // loaded, which every command does: a server would answer a third fewer requests.
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
