import {
  knownFailures,
  type KnownFailure,
  type KnownServer,
} from '../../packages/s3-servers/src/known-failures.ts'
import { s3ServerVersion } from '../../packages/s3-servers/src/server-kinds.ts'
import { markdownTable } from './markdown-table.ts'
import { otherS3Servers } from './other-s3-servers.ts'

/** A Markdown table of the S3 servers other than MinIO, each with its version and what it cannot do. */
export function renderS3Servers(): string {
  const rows = otherS3Servers.map((kind) => [
    `${kind} ${s3ServerVersion(kind)}`,
    testsFailed(knownFailures[kind]),
    `${knownFailures[kind].remarks.join('. ')}.`,
  ])
  return markdownTable([['server', 'tests failed', 'what it cannot do'], ...rows])
}

function testsFailed({ contract, blackBox }: KnownServer): string {
  const all = [...contract, ...blackBox]
  const count = (some: readonly KnownFailure[]) => some.flatMap(({ tests }) => tests).length
  const byChance = count(all.filter((failure) => failure.isByChance === true))
  const leftOut = count(all.filter((failure) => failure.isLeftOut === true))
  return [
    `${count(all) - byChance - leftOut}`,
    ...(byChance > 0 ? [`${byChance} by chance`] : []),
    ...(leftOut > 0 ? [`${leftOut} not run`] : []),
  ].join(', ')
}
