import { namesIn, type VerbArguments } from '../verb/client-verb.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withRemote } from '../session/with-remote.ts'

const concurrency = 16

/** Deletes the files that are named; resolves with the exit code. */
export function runRm(argv: VerbArguments): Promise<number> {
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    const names = expandNames(namesIn(argv), argv, remote)
    await forEachName(names, String, { ...remote, concurrency }, async (name, signal) => {
      await client.delete(name, { signal })
      await report.done({ name, deleted: true }, `Deleted ${name}`)
    })
  })
}
