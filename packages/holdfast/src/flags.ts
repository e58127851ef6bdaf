import type { Argv } from 'yargs'
import {
  type Config,
  environmentName,
  type SettingName,
  settings,
  type StoreKind,
  secretNames,
  secretVariables,
  settingNames,
  type WrittenSettings,
} from '@holdfast/server/config'
import { SetupError } from '@holdfast/core'

const headings: Readonly<Record<StoreKind, string>> = {
  disk: 'Disk store:',
  minio: 'MinIO store:',
}

/** The settings of commands that work on the files of customers, and make no bucket. */
export const settingsOfFiles = settingNames.filter((name) => {
  if (name === 'minio-create-bucket' || settings[name].isForServing) return false
  return name === 'store' || name === 'customers' || settings[name].store !== undefined
})

/** Options for the settings `names`, in groups. Each value is text. */
export function withSettings(yargs: Argv, names: readonly SettingName[]): Argv {
  for (const name of names) {
    const { describe, store, isSwitch = false, default: byDefault = '' } = settings[name]
    // No type: with the parser's configuration each value is text, or `true` for a switch without a value.
    yargs.option(name, {
      requiresArg: !isSwitch,
      coerce: String,
      group: store === undefined ? 'Server:' : headings[store],
      describe: `${describe} [$${environmentName(name)}]`,
      ...(byDefault !== '' && { defaultDescription: byDefault }),
    })
  }
  return yargs
}

/** `--config`, for commands that an administrator runs on the machine of the server. */
export function withConfig(yargs: Argv): Argv {
  return yargs.option('config', {
    requiresArg: true,
    group: 'Server:',
    describe: 'Configuration file of the server [$HOLDFAST_CONFIG]',
  })
}

/**
 * The variables of this process for the settings `names`, the secrets and the configuration file. Others are left out, so that a command
 * does not fail because of them: a copy does not need the server's port.
 */
export function settingEnvironment(names: readonly SettingName[]): NodeJS.ProcessEnv {
  const secretVariableNames = secretNames.flatMap((name) => Object.values(secretVariables(name)))
  const variables = ['HOLDFAST_CONFIG', ...names.map(environmentName), ...secretVariableNames]
  return Object.fromEntries(variables.map((name) => [name, process.env[name]]))
}

/**
 * Refuses flags of a store that is not among those `inUse`, since they would have no effect. Variables and configuration files may have
 * them: several commands share these.
 *
 * @throws SetupError that names every such flag
 */
export function refuseFlagsOfOtherStores(
  flags: WrittenSettings,
  inUse: readonly StoreKind[],
): void {
  const idle = settingNames.filter((name) => {
    const { store } = settings[name]
    return flags[name] !== undefined && store !== undefined && !inUse.includes(store)
  })
  if (idle.length === 0) return
  const named = idle.map((name) => `--${name}`).join(', ')
  const wanted = [...new Set(idle.map((name) => settings[name].store))].join(' or ')
  throw new SetupError(`The store is ${inUse.join(' and ')}, which does not use ${named}`, [
    `Choose the store ${wanted}, or leave that out.`,
  ])
}

/**
 * Refuses flags about Valkey or Redis unless the configuration says where it is, since they would have no effect.
 *
 * @throws SetupError that names every such flag
 */
export function refuseFlagsWithoutSharedUrl(flags: WrittenSettings, config: Config): void {
  if (config['shared-url'] !== undefined) return
  const idle = settingNames.filter(
    (name) => name.startsWith('shared-') && flags[name] !== undefined,
  )
  if (idle.length === 0) return
  const named = idle.map((name) => `--${name}`).join(', ')
  throw new SetupError(`Without --shared-url the server does not use ${named}`, [
    'Give the URL of Valkey or Redis, or leave that out.',
  ])
}

/**
 * Refuses words after `--`, for commands that take none. Yargs does not check them.
 *
 * @throws SetupError that names the first
 */
export function refuseStrayWords({ '--': rest = [] }: { readonly '--'?: readonly string[] }): void {
  const [stray] = rest
  if (stray !== undefined) throw new SetupError(`No words are allowed after "--": "${stray}".`)
}

/** The positional arguments that yargs parses for a command with one name. */
export interface NameArgument {
  readonly name?: string | undefined
  /** The words after `--`, which yargs does not take as positionals. */
  readonly '--'?: readonly string[]
}

/**
 * The name that was given, before or after `--`; `undefined` if there is none.
 *
 * @throws SetupError if there are two
 */
export function onlyName({ name, '--': rest = [] }: NameArgument): string | undefined {
  const [first, second] = name === undefined ? rest : [name, ...rest]
  if (second === undefined) return first
  throw new SetupError(
    `Only one name is allowed, and "${second}" is another. Put a name with spaces in quotes.`,
  )
}

/**
 * The number in `--concurrency`.
 *
 * @throws SetupError unless it is from 1 to 64
 */
export function parseConcurrency(value: string): number {
  const count = /^\d{1,2}$/.test(value) ? Number(value) : 0
  if (count >= 1 && count <= 64) return count
  throw new SetupError(`--concurrency "${value}" is not a number from 1 to 64.`)
}
