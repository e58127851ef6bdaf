import type { FileDetails } from '@holdfast/client'
import { namesIn, type VerbArguments } from '../verb/client-verb.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { sizeWithBytes, localTime } from '../../terminal/format.ts'
import { shown } from '../../terminal/print.ts'
import { withRemote } from '../session/with-remote.ts'

/** Prints what is known of the files that are named, in their order; resolves with the exit code. */
export function runStat(argv: VerbArguments): Promise<number> {
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
