import type { FileDetails } from '@holdfast/client'
import { type ClientVerb, type VerbArguments, namesIn, withNames } from './client-verb.ts'
import { expandNames, forEachName } from './names.ts'
import { sizeWithBytes, localTime, shown } from '../terminal/print.ts'
import { withRemote } from './session.ts'
import { hashContent } from './sync/transfers.ts'
import { off } from '../terminal/yargs.ts'

/** `holdfast stat NAME…`. */
export const stat: ClientVerb = {
  command: 'stat [names..]',
  describe: 'Show the details of files',
  flags: ['sha256'],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .option('sha256', { ...off, describe: 'Read each file, and show the SHA-256 of its content' })
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
      if (argv['sha256'] !== true) return report.result(details, describe(details))
      const sha256 = await hashContent(client, details, signal)
      await report.result({ ...details, sha256 }, `${describe(details)}\n  sha256    ${sha256}`)
    })
  })
}

function describe({ name, size, modified, expires, type, etag }: FileDetails): string {
  return [
    shown(name),
    `  size      ${sizeWithBytes(size)}`,
    `  modified  ${localTime(modified)} (${shown(modified)})`,
    ...(expires === undefined ? [] : [`  expires   ${localTime(expires)} (${shown(expires)})`]),
    `  type      ${shown(type)}`,
    `  etag      ${shown(etag)}`,
  ].join('\n')
}
