import { standardError } from '../../terminal/standard-error.ts'
import { createReport } from '../output/report.ts'
import { createScreen, type Screen } from '../output/screen.ts'
import type { VerbArguments } from '../verb/client-verb.ts'
import { withRemote, type Remote } from './with-remote.ts'

/** What a verb that moves content works with. */
export interface RemoteWithScreen extends Remote {
  readonly screen: Screen
}

/** As {@link withRemote}, with the progress of files on standard error. */
export async function withTransfers(
  argv: VerbArguments,
  work: (remote: RemoteWithScreen) => Promise<void>,
): Promise<number> {
  const screen = createScreen(standardError(), process.env)
  const report = createReport(argv.json === true, (line) => screen.line(line))
  try {
    return await withRemote(argv, (remote) => work({ ...remote, screen }), report)
  } finally {
    screen.end()
  }
}
