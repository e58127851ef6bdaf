import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractResult } from './contract-result.ts'
import { renderMatrix } from './render-matrix.ts'
import { renderS3Servers } from './render-s3-servers.ts'
import { renderResults } from './render-results.ts'
import type { Store } from './stores.ts'

/** A file of the repository, as it is and as it has to be. */
export interface GeneratedDocument {
  readonly path: string
  /** `undefined` when there is no such file. */
  readonly present: string | undefined
  readonly wanted: string
}

/** Where the README's matrix begins and ends. */
const block = /(?<=<!-- contract results: [^>]*-->\n\n)[^]*?(?=\n<!-- end of contract results -->)/

/** The same for the S3 servers other than MinIO that the contract runs on. */
const serversBlock =
  /(?<=<!-- other S3 servers: [^>]*-->\n\n)[^]*?(?=\n<!-- end of other S3 servers -->)/

const introduction = `# Contract results

The [contract suite](../packages/contract) on every store, side by side. \`scripts/test\` fails when a complete run gives
anything else; \`node scripts/write-matrix.ts\` writes this file and the README's matrix from the last complete run.

\`ok\`: passed. \`-\`: not run, for the reason given below the group; exceptions that a store is granted stand there,
too. The disk store has two columns, one for each of its layouts: \`disk\` keeps plain names, \`escaped\` is for file
systems that fold names. In the names of tests, what is not printable ASCII is written as in JSON, and \`x{255}\` stands
for 255 times \`x\`.

`

/** The documents that tell of `results`, from the repository at `root`. Rejects when the README has no place for them. */
export async function generatedDocuments(
  root: string,
  stores: readonly Store[],
  results: readonly ContractResult[],
): Promise<GeneratedDocument[]> {
  const suites = stores.flatMap((store) => store.suites)
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  if (!block.test(readme)) throw new Error('README.md has no block for the contract results')
  if (!serversBlock.test(readme)) throw new Error('README.md has no block for other S3 servers')
  const path = 'docs/contract-results.md'
  return [
    {
      path: 'README.md',
      present: readme,
      wanted: readme
        .replace(block, () => renderMatrix(stores, results))
        .replace(serversBlock, renderS3Servers),
    },
    {
      path,
      present: await readFile(join(root, path), 'utf8').catch(() => undefined),
      wanted: introduction + renderResults(suites, results),
    },
  ]
}
