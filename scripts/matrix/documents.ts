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

/** Where the README's table begins and ends. */
const block = /(?<=<!-- contract results: [^>]*-->\n\n)[^]*?(?=\n<!-- end of contract results -->)/

/** The same in docs/minio.md for the S3 servers other than MinIO that the contract runs on. */
const serversBlock =
  /(?<=<!-- other S3 servers: [^>]*-->\n\n)[^]*?(?=\n<!-- end of other S3 servers -->)/

const introduction = `# Contract results

The [contract suites](README.md) for blobs, renames and uploads in pieces on every store, side by side. \`scripts/test\`
fails when a run with all of them gives anything else; \`node scripts/write-matrix.ts\` writes this file, and the table in
the README of holdfast, from the last such run.

\`ok\`: passed. \`-\`: not run, for the reason given below the group; exceptions that a store is granted stand there,
too. The disk store has two columns, one for each of its layouts: \`disk\` keeps plain names, \`escaped\` is for file
systems that fold names. In the names of tests, what is not printable ASCII is written as in JSON, and \`x{255}\` stands
for 255 times \`x\`.

`

/** The documents that show `results`, from the repository at `root`. Rejects when one of them has no place for them. */
export async function generatedDocuments(
  root: string,
  stores: readonly Store[],
  results: readonly ContractResult[],
): Promise<GeneratedDocument[]> {
  const suites = stores.flatMap((store) => store.suites)
  const path = 'packages/contract/results.md'
  return [
    await withBlock(root, 'README.md', block, renderMatrix(stores, results)),
    await withBlock(root, 'docs/minio.md', serversBlock, renderS3Servers()),
    {
      path,
      present: await readFile(join(root, path), 'utf8').catch(() => undefined),
      wanted: introduction + renderResults(suites, results),
    },
  ]
}

/** The document at `path` with `text` in the place that `pattern` finds. */
async function withBlock(
  root: string,
  path: string,
  pattern: RegExp,
  text: string,
): Promise<GeneratedDocument> {
  const present = await readFile(join(root, path), 'utf8')
  if (!pattern.test(present)) throw new Error(`${path} has no block for ${String(pattern)}`)
  return { path, present, wanted: present.replace(pattern, () => text) }
}
