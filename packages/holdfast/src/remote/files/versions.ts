import type { FileVersion } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { localTime } from '../../terminal/format.ts'
import { shown } from '../../terminal/print.ts'
import { usageError } from '../errors/command-error.ts'
import { explainingMissingHistory } from '../names/deleted-files.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withRemote } from '../session/with-remote.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  withJson,
  withWords,
} from '../verb/client-verb.ts'

/** `holdfast versions NAME…`. */
export const versions: ClientVerb = {
  command: 'versions [names..]',
  describe: 'List the earlier versions of files',
  flags: [],
  options: (yargs) =>
    withJson(withWords(yargs, 'Names on the server; after -- if one begins with a dash'))
      .example('$0 versions notes.txt', 'what was replaced or deleted, newest first')
      .example('$0 get notes.txt --version 5yxyd-g -o old.txt', 'downloads one of them')
      .epilog(
        'A line has the size, the time when it was stored, the time when it was replaced or deleted, the version and the name. Names are taken as they stand, without wildcards. `ls --deleted` lists deleted files. An administrator removes versions by `versions purge`; a file called purge goes after --.',
      ),
  run: runVersions,
}

/** Prints a line for each earlier version, newest first; resolves with the exit code. */
function runVersions(argv: VerbArguments): Promise<number> {
  const names = namesIn(argv)
  if (names.length === 0) throw usageError('Say the name of a file.')
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      for await (const version of explainingMissingHistory(client.versions(name, { signal }))) {
        await report.result(version, describe(version))
      }
    })
  })
}

function describe({ name, version, size, modified, replaced }: FileVersion): string {
  const times = `${localTime(modified)}  replaced ${localTime(replaced)}`
  return `${formatBytes(size).padStart(7)}  ${times}  ${shown(version)}  ${shown(name)}`
}
