import { endsCommand } from '../names/for-each-name.ts'
import { expandNames } from '../names/expand-names.ts'
import { withRemote, type Remote } from '../session/with-remote.ts'
import { type ClientVerb, type VerbArguments, namesIn, withNames } from '../verb/client-verb.ts'

/** `holdfast rm NAME…`. */
export const rm: ClientVerb = {
  command: 'rm [names..]',
  describe: 'Delete files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .example('$0 rm notes.txt', 'deletes it for good')
      .example("$0 rm 'holiday-*.jpg'", 'all that match; the quotes keep the shell from reading it')
      .epilog(
        'Files are deleted without a question. If a name or a pattern has no file, the exit code is 4; the others are deleted.',
      ),
  run: runRm,
}

/** The most files that the server deletes in one request. */
const mostTogether = 10_000

/** Deletes the files named; resolves with the exit code. */
function runRm(argv: VerbArguments): Promise<number> {
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
 * Deletes files in one request. Each is deleted or fails on its own, and is reported on its own.
 *
 * @throws the errors after which the rest of the command is pointless
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
    if (signal.aborted || endsCommand(error)) throw error
    // These may or may not be deleted.
    for (const name of names.slice(reported)) await report.failed(name, error)
  }
}
