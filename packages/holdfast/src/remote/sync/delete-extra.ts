import { isHoldfastError } from '@holdfast/client'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import { mergeByName } from './merge-by-name.ts'
import type { SyncPlan } from './sync-plan.ts'
import { walkDirectory } from './walk-directory.ts'

/**
 * Deletes files that are on the server only; resolves to how many. Looks at the directory once more before: what has come since stays.
 *
 * @throws CommandError, before anything is deleted, where they have become too many or the directory cannot be read any more
 */
export async function deleteExtra(plan: SyncPlan, extra: readonly string[]): Promise<number> {
  const { client, directory, into, mostDeletions = 0, isDryRun, signal, events } = plan
  if (extra.length > mostDeletions) throw refusal(`more than ${mostDeletions} files`)
  let files = 0
  let deleted = 0
  const gone: string[] = []
  const onUnread = (path: string) => {
    throw refusal('files', `${path} cannot be read`)
  }
  const local = walkDirectory(directory, { into, signal, onUnread })
  for await (const { name, found } of mergeByName([local, named(extra)])) {
    const [here] = found
    if (here) files++
    else gone.push(name)
  }
  if (files === 0 && gone.length > 0) throw refusal('files', `${directory} has none any more`)
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
  // The server has deleted the others meanwhile.
  if (failures[0]) throw failures[0]
  return deleted
}

async function* named(names: readonly string[]) {
  for (const name of names) yield { name, error: undefined }
}

function refusal(what: string, reason?: string): CommandError {
  return new CommandError(
    exitCodes.failed,
    `Nothing was deleted: ${what} are on the server only${reason === undefined ? '' : `, and ${reason}`}`,
  )
}
