import { nameProblem, SetupError } from '@holdfast/core'
import type { Argv } from 'yargs'
import { findConfig, settingNames, settings, type WrittenSettings } from '@holdfast/server/config'
import {
  onlyName,
  type NameArgument,
  refuseIdleFlags,
  settingEnvironment,
  withSettings,
} from './settings/flags.ts'

/** The flags of `holdfast usage` that are no settings, for guessing which one was meant. */
export const usageFlags = ['json']

/** What the command line gives. Other settings come from the environment and the configuration file. */
export type UsageFlags = WrittenSettings &
  NameArgument & {
    readonly json: boolean
    readonly config?: string
  }

const usageSettings = settingNames.filter((name) => {
  if (name === 'minio-create-bucket' || settings[name].isForServing) return false
  return name === 'store' || name === 'customers' || settings[name].store !== undefined
})

/** The arguments and options of `holdfast usage`. */
export function describeUsage(yargs: Argv): Argv {
  return withSettings(yargs, usageSettings)
    .positional('name', {
      type: 'string',
      describe: 'Only this customer; behind -- if the name begins with a dash',
    })
    .option('json', {
      type: 'boolean',
      default: false,
      defaultDescription: 'no',
      describe: 'Print a line of JSON for each customer, as soon as it is counted',
    })
    .option('config', {
      requiresArg: true,
      group: 'Server:',
      describe: 'Configuration file of the server [$HOLDFAST_CONFIG]',
    })
    .example('$0 usage', 'a table of all customers')
    .example('$0 usage alice --data /srv/files', 'one customer')
    .example('$0 usage --config holdfast.yaml --json', 'for a program')
    .epilog(
      'Give the flags that the server gets. It looks at every file, changes none, and may run while the server does. Of uploads under way it counts those in pieces, as unfinished.',
    )
}

/** Prints what customers keep; resolves with the exit code. */
export async function usage(flags: UsageFlags): Promise<number> {
  const customer = customerIn(flags)
  const config = await findConfig(flags, settingEnvironment(usageSettings))
  refuseIdleFlags(flags, [config.store])
  // Loaded only now: help and mistakes are answered twice as fast without the stores.
  const { runUsage } = await import('./usage/run-usage.ts')
  return runUsage(config, { customer, isJson: flags.json })
}

/** The customer that is asked for, if one is. */
function customerIn(flags: UsageFlags): string | undefined {
  const name = onlyName(flags)
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem !== undefined) throw new SetupError(`"${name}" is no name: ${problem}.`)
  return name
}
