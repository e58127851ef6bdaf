import type { FileDetails } from '@holdfast/client'
import { type ClientVerb, type VerbArguments, namesIn, withNames } from '../verb/client-verb.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { sizeWithBytes, localTime } from '../../terminal/format.ts'
import { shown } from '../../terminal/print.ts'
import { withRemote } from '../session/with-remote.ts'

/** `holdfast stat NAME…`. */
export const stat: ClientVerb = {
  command: 'stat [names..]',
  describe: 'Show the details of files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .example('$0 stat notes.txt', 'size, time, type and entity tag')
      .example('$0 stat notes.txt --json', 'for a program'),
  run: runStat,
}

/** Prints the details of the files named, in their order; resolves with the exit code. */
function runStat(argv: VerbArguments): Promise<number> {
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    const names = expandNames(namesIn(argv), argv, remote)
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      const details = await client.stat(name, { signal })
      await report.result(details, describe(details))
    })
  })
}

function describe({ name, size, modified, type, etag }: FileDetails): string {
  return [
    shown(name),
    `  size      ${sizeWithBytes(size)}`,
    `  modified  ${localTime(modified)} (${shown(modified)})`,
    `  type      ${shown(type)}`,
    `  etag      ${shown(etag)}`,
  ].join('\n')
}
