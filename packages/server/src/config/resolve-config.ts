import { adviceOf, asSentence, SetupError } from '@holdfast/core'
import { quoted } from './parse-setting.ts'
import type { WrittenSettings } from './read-config-file.ts'
import { readSecret, type SecretName } from './secrets.ts'
import {
  environmentName,
  settingNames,
  settings,
  type SettingName,
  type SettingValues,
} from './settings.ts'

/** What `holdfast serve` runs with; see `settings` for what each means. Sizes in bytes, times in milliseconds. */
export interface Config extends SettingValues {
  /**
   * Reads a secret only when it is needed: one that is not needed may be wrong. See `readSecret`. No print of the configuration
   * shows it.
   */
  readonly readSecret: (name: SecretName) => Promise<string | undefined>
}

/** Where settings are looked for, each written as on the command line; what is left out has none. */
export interface ConfigSources {
  /** By the flags' names without dashes. */
  readonly flags?: WrittenSettings
  /** As in `process.env`; variables that are not of a setting are ignored. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What was read from a configuration file. */
  readonly file?: WrittenSettings
  /** Where that file is, for messages. */
  readonly filePath?: string | undefined
}

/**
 * The settings in force: a flag wins over the environment, that over the configuration file, and that over the default.
 *
 * @throws SetupError that names the place where a wrong value was written
 */
export function resolveConfig(sources: ConfigSources = {}): Config {
  const resolve = (name: SettingName): unknown => {
    const { value, place } = find(name, sources)
    if (value === undefined) return undefined
    try {
      return settings[name].parse(value)
    } catch (error) {
      const { problem, remedies } = adviceOf(error)
      const said = asSentence({ problem: `${place} ${quoted(value)} ${problem}`, remedies })
      throw new SetupError(said.problem, said.remedies)
    }
  }
  const { environment = {} } = sources
  return {
    ...eachSetting(resolve),
    readSecret: (name: SecretName) => readSecret(name, environment),
  }
}

function eachSetting(resolve: (name: SettingName) => unknown): SettingValues {
  const values = Object.fromEntries(settingNames.map((name) => [name, resolve(name)]))
  // Each value comes from the parser that gives it its type.
  return values as SettingValues
}

function find(
  name: SettingName,
  { flags = {}, environment = {}, file = {}, filePath = '' }: ConfigSources,
) {
  const variable = environmentName(name)
  // An empty variable is how a shell or a container file unsets one.
  const inEnvironment = environment[variable] || undefined
  if (flags[name] !== undefined) return { value: flags[name], place: `--${name}` }
  if (inEnvironment !== undefined) return { value: inEnvironment, place: variable }
  if (file[name] !== undefined) return { value: file[name], place: `${filePath}: ${name}` }
  return { value: settings[name].default, place: name }
}
