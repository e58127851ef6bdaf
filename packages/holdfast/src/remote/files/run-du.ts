import { usageError } from '../errors/command-error.ts'
import type { VerbArguments } from '../verb/client-verb.ts'
import { usageText } from '../output/usage-text.ts'
import { withRemote } from '../session/with-remote.ts'

/** Prints what the customer keeps and may keep; resolves with the exit code. */
export function runDu(argv: VerbArguments): Promise<number> {
  const [stray] = argv['--'] ?? []
  if (stray !== undefined) throw usageError(`Nothing goes after "--" here: "${stray}".`)
  return withRemote(argv, async ({ client, report, signal }) => {
    const usage = await client.usage({ signal })
    await report.result(usage, usageText(usage))
  })
}
