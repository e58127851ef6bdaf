import { endsAll } from '../names/for-each-name.ts'
import { expandNames } from '../names/expand-names.ts'
import { withRemote, type Remote } from '../session/with-remote.ts'
import { namesIn, type VerbArguments } from '../verb/client-verb.ts'

/** What the server deletes by one request. */
const mostTogether = 10_000

/** Deletes the files that are named; resolves with the exit code. */
export function runRm(argv: VerbArguments): Promise<number> {
  return withRemote(argv, async (remote) => {
    const names: string[] = []
    for await (const name of expandNames(namesIn(argv), argv, remote)) {
      names.push(name)
      if (names.length === mostTogether) await deleteTogether(names.splice(0), remote)
    }
    await deleteTogether(names, remote)
  })
}

/**
 * Deletes files by one request. Each of them is deleted or fails, and is reported, on its own.
 *
 * @throws what makes the rest of the command pointless
 */
async function deleteTogether(
  names: readonly string[],
  { client, report, signal }: Remote,
): Promise<void> {
  let reported = 0
  try {
    for await (const { name, error } of client.deleteMany(names, { signal })) {
      reported++
      if (error) await report.failed(name, error)
      else await report.done({ name, deleted: true }, `Deleted ${name}`)
    }
  } catch (error) {
    if (signal.aborted || endsAll(error)) throw error
    // Whether these are deleted is not known.
    for (const name of names.slice(reported)) await report.failed(name, error)
  }
}
