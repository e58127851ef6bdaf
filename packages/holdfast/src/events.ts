import { findConfig, type SettingName, type WrittenSettings } from '@holdfast/server/config'
import type { Argv } from 'yargs'
import { refuseStrayWords, settingEnvironment, withConfig, withSettings } from './flags.ts'
import { print, standardError } from './terminal/print.ts'

/** The flags of `holdfast events` that are no settings; used to guess misspelt flags. */
export const eventsFlags = ['since', 'customer']

const settingsOfEvents: readonly SettingName[] = [
  'audit-log',
  'customers',
  'webhook',
  'webhook-allow-private',
]

type ReplayFlags = WrittenSettings & {
  readonly since: string
  readonly customer?: string
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** `holdfast events …`: what an administrator does with the events that a server delivers. */
export function eventsCommands(yargs: Argv, run: (work: Promise<number>) => Promise<void>): Argv {
  return yargs
    .command(
      'replay',
      'Send the events of a time once more, with the same ids',
      describeReplay,
      (argv) => run(replay(argv as unknown as ReplayFlags)),
    )
    .demandCommand(1, 'Say what to do: replay.')
}

function describeReplay(yargs: Argv): Argv {
  return withConfig(withSettings(yargs, settingsOfEvents))
    .option('since', {
      requiresArg: true,
      demandOption: 'Say --since when, as in --since 3d or --since 2026-11-21T02:45:56Z.',
      coerce: String,
      describe: 'Time of the first change, in ISO 8601, or a period before now such as 3d',
    })
    .option('customer', {
      requiresArg: true,
      coerce: String,
      describe: 'Send the changes of this customer to the receiver of the customer',
    })
    .example('$0 events replay --config holdfast.yaml --since 3d', 'the last three days')
    .epilog(
      'Give the flags that the server gets, and the secret of the webhook in the environment. The command reads the audit trail and the uncompressed files beside it, and may run while the server does. The exit code is 0 if all events were accepted.',
    )
}

/** Sends the events once more; resolves with the exit code. */
async function replay(flags: ReplayFlags): Promise<number> {
  refuseStrayWords(flags)
  const config = await findConfig(flags, settingEnvironment(settingsOfEvents))
  // Loaded only now: no other command needs it.
  const { replayEvents } = await import('@holdfast/server/events')
  const { accepted, problem, stoppedAt } = await replayEvents(config, {
    since: flags.since,
    ...(flags.customer !== undefined && { customer: flags.customer }),
  })
  await print(`${accepted} ${accepted === 1 ? 'event was' : 'events were'} accepted\n`)
  if (problem === undefined) return 0
  const rest = `Go on by --since ${stoppedAt}`
  standardError().write(`holdfast: The next event was not accepted (${problem}). ${rest}.\n`)
  return 1
}
