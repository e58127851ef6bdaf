import { parseConcurrency } from '../../settings/parse-concurrency.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withTransfers } from '../session/with-transfers.ts'
import { namesIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { createDirectorySync } from './directory-sync.ts'
import { getFile } from './get-file.ts'
import { listPartials } from './partial-files.ts'
import { runCat } from './run-cat.ts'
import { createReplacing } from './replacing.ts'
import { createTargets } from './targets.ts'

/** Downloads files, several at a time; resolves with the exit code. */
export async function runGet(argv: VerbArguments): Promise<number> {
  const output = textIn(argv, 'output')
  if (output === '-') return runCat(argv)
  const words = namesIn(argv)
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const targets = await createTargets(output, words, argv.literal === true)
  const { directory } = targets
  const partials = await listPartials(directory)
  return withTransfers(argv, async (remote) => {
    const destination = {
      partials,
      sync: createDirectorySync(directory),
      replacing: createReplacing(argv['force'] === true, remote.screen),
    }
    const bounds = { ...remote, concurrency }
    await forEachName(expandNames(words, argv, remote), String, bounds, (name, signal) =>
      getFile(name, targets.of(name), destination, { ...remote, signal }),
    )
  })
}
