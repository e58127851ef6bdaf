import type { Usage } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { usageError } from '../errors/command-error.ts'
import { type ClientVerb, type VerbArguments, withJson } from '../verb/client-verb.ts'
import { withRemote } from '../session/with-remote.ts'
import { sizeWithBytes } from '../../terminal/format.ts'

/** `holdfast du`. */
export const du: ClientVerb = {
  command: 'du',
  describe: 'Show how much is stored, and the limits',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 du', 'files and bytes, with your limits')
      .example('$0 du --json', 'for a program'),
  run: runDu,
}

/** Prints what the customer keeps and may keep; resolves with the exit code. */
function runDu(argv: VerbArguments): Promise<number> {
  const [stray] = argv['--'] ?? []
  if (stray !== undefined) throw usageError(`No words are allowed after "--": "${stray}".`)
  return withRemote(argv, async ({ client, report, signal }) => {
    const usage = await client.usage({ signal })
    await report.result(usage, usageText(usage))
  })
}

/** What a customer keeps and may keep, in a line for each fact. */
export function usageText({ files, bytes, quota, maxFiles, unfinished, kept }: Usage): string {
  const share = quota === undefined ? '' : ` of ${formatBytes(quota)} (${percent(bytes, quota)})`
  return [
    `size        ${sizeWithBytes(bytes)}${share}`,
    `files       ${files}${maxFiles === undefined ? '' : ` of ${maxFiles}`}`,
    ...(unfinished.uploads === 0
      ? []
      : [
          `unfinished  ${unfinished.uploads} ${unfinished.uploads === 1 ? 'upload' : 'uploads'} with ${sizeWithBytes(unfinished.bytes)}`,
        ]),
    ...(kept === undefined || kept.versions === 0
      ? []
      : [
          `versions    ${kept.versions} earlier ${kept.versions === 1 ? 'version' : 'versions'} with ${sizeWithBytes(kept.bytes)}, outside the quota`,
        ]),
  ].join('\n')
}

/** Rounded down: 100% means that there is no room. */
function percent(bytes: number, quota: number): string {
  if (quota === 0) return '100%'
  const share = Math.floor((bytes / quota) * 100)
  return share === 0 && bytes > 0 ? '<1%' : `${share}%`
}
