import { stat } from 'node:fs/promises'
import { prefixFromPath } from '@holdfast/client'
import { mergeByName } from '@holdfast/copy'
import { CommandError, usageError, exitCodes } from '../errors/command-error.ts'
import { printable } from '../../terminal/print.ts'
import { isMissing } from './local-file.ts'
import type { SyncPlan } from './sync-plan.ts'
import { walkDirectory } from './walk-directory.ts'

const shownClashes = 10

/**
 * Looks at all names before anything is changed; resolves to the number of files.
 *
 * @throws CommandError where two files would have one name on the server, or more files would be deleted than may be
 */
export async function survey(plan: SyncPlan): Promise<number> {
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
    if (isMissing(error)) throw new CommandError(exitCodes.notFound, `There is no ${directory}`)
    throw error
  })
  if (!found.isDirectory()) throw usageError(`${directory} is no directory`)
}

async function* remoteNames({ client, into, signal, mostDeletions }: SyncPlan) {
  if (mostDeletions === undefined) return
  for await (const name of client.list({ prefix: prefixFromPath(into), signal })) yield { name }
}

function clash(clashes: readonly string[]): CommandError {
  const more = clashes.length - shownClashes
  return new CommandError(
    exitCodes.failed,
    `Nothing was sent, since files would have one name on the server: ${[
      ...clashes.slice(0, shownClashes).map(printable),
      ...(more > 0 ? [`and ${more} more`] : []),
    ].join('; ')}`,
    ['Rename one of each.'],
  )
}

function refuseDeletions(directory: string, files: number, extra: number, most: number): void {
  if (files === 0 && extra > 0) {
    throw new CommandError(
      exitCodes.failed,
      `${directory} has no files, and with --delete nothing would be left on the server`,
      ['If that is meant, use holdfast rm.'],
    )
  }
  if (extra > most) {
    throw new CommandError(
      exitCodes.failed,
      `Nothing was sent or deleted: ${extra} files are on the server only, and at most ${most} may be deleted`,
      [`If that is meant, add --max-delete ${extra}; --dry-run shows which ones.`],
    )
  }
}
