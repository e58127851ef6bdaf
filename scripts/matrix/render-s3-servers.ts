import { knownFailures, s3ServerVersion } from '../../packages/testing/src/s3-servers.ts'
import { markdownTable } from './markdown-table.ts'
import { otherS3Servers } from './other-s3-servers.ts'

/** A Markdown table of the S3 servers other than MinIO, each with its version and what it cannot do. */
export function renderS3Servers(): string {
  const rows = otherS3Servers.map((kind) => {
    const { contract, byChance, remarks } = knownFailures[kind]
    const failed = contract.flatMap(({ tests }) => tests)
    return [
      `${kind} ${s3ServerVersion(kind)}`,
      `${failed.length}`,
      `${byChance.length}`,
      `${remarks.join('. ')}.`,
    ]
  })
  return markdownTable([['server', 'tests failed', 'not run', 'what it cannot do'], ...rows])
}
