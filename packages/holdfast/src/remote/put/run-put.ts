import { parseConcurrency } from '../../settings/parse-concurrency.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withTransfers } from '../session/with-transfers.ts'
import { namesIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { inBatches } from './batches.ts'
import { localFiles } from './local-files.ts'
import { putBatch } from './put-batch.ts'
import { putFile } from './put-file.ts'

/** Uploads files, several requests at a time; resolves with the exit code. */
export async function runPut(argv: VerbArguments): Promise<number> {
  const files = localFiles(namesIn(argv), textIn(argv, 'as'))
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const isCreateOnly = argv['no-clobber'] === true
  return withTransfers(argv, async (remote) => {
    const bounds = { ...remote, concurrency }
    await forEachName(
      inBatches(files),
      ([file]) => file.path,
      bounds,
      ([file, ...others], signal) =>
        others.length === 0
          ? putFile(file, isCreateOnly, { ...remote, signal })
          : putBatch([file, ...others], isCreateOnly, { ...remote, signal }),
    )
  })
}
