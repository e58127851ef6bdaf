import type { Argv } from 'yargs'
import { findConfig, settingNames, type WrittenSettings } from '@holdfast/server/config'
import { refuseIdleFlags, withSettings, refuseRest } from './settings/flags.ts'

/** The flags of `holdfast doctor` that are no settings, for guessing which one was meant. */
export const doctorFlags = ['json']

/** What the command line gives. Other settings come from the environment and the configuration file. */
export type DoctorFlags = WrittenSettings & {
  readonly json: boolean
  readonly config?: string
  readonly '--'?: readonly string[]
}

/** The options of `holdfast doctor`: those of the server, and how to report. */
export function describeDoctor(yargs: Argv): Argv {
  return withSettings(yargs, settingNames)
    .option('config', {
      requiresArg: true,
      group: 'Server:',
      describe: 'Configuration file of the server [$HOLDFAST_CONFIG]',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      defaultDescription: 'no',
      describe: 'Report in JSON, for programs',
    })
    .example('$0 doctor --data /srv/files', 'give the flags that the server gets')
    .example('$0 doctor --config holdfast.yaml --json', 'for a program')
    .epilog(
      [
        'Looks at the machine, the customers file and the store, says what is wrong and what to do, and changes nothing. It may run while the server does; run it as the same user.',
        'The exit code is 0 without a problem, also with warnings, and 1 otherwise.',
      ].join('\n\n'),
    )
}

/** Examines all that the server needs; resolves with the exit code. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  refuseRest(flags)
  const config = await findConfig(flags, process.env)
  refuseIdleFlags(flags, [config.store])
  // Loaded only now: help and mistakes are answered twice as fast without the stores.
  const { runDoctor } = await import('./doctor/run-doctor.ts')
  return runDoctor(config, flags.json)
}
