import { adviceOf, asSentence, SetupError } from '@holdfast/core'
import { quoted } from './parse-setting.ts'
import type { WrittenSettings } from './read-config-file.ts'
import { readSecret, type SecretName } from './environment.ts'
import {
  environmentName,
  settingNames,
  settings,
  type SettingName,
  type SettingValues,
} from './settings.ts'

/** The settings of `holdfast serve`; `settings` documents each. Sizes are in bytes, times in milliseconds. */
export interface Config extends SettingValues {
  /**
   * Reads a secret when it is needed, so that a secret that is not needed may be wrong; see `readSecret`. Secrets are not in the
   * configuration, so printing it does not show them.
   */
  readonly readSecret: (name: SecretName) => Promise<string | undefined>
}

/** The sources of settings, whose values are written as on the command line. Each may be absent. */
export interface ConfigSources {
  /** By the flags' names without dashes. */
  readonly flags?: WrittenSettings
  /** As in `process.env`; other variables than those of settings are ignored. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** The settings in a configuration file. */
  readonly file?: WrittenSettings
  /** The path of that file, for messages. */
  readonly filePath?: string | undefined
}

/**
 * The effective settings: a flag overrides the environment, that overrides the configuration file, and that the default.
 *
 * @throws SetupError that names where a wrong value was written
 */
export function resolveConfig(sources: ConfigSources = {}): Config {
  const resolve = (name: SettingName): unknown => {
    const { value, source } = find(name, sources)
    if (value === undefined) return undefined
    try {
      return settings[name].parse(value)
    } catch (error) {
      const { problem, remedies } = adviceOf(error)
      const said = asSentence({ problem: `${source} ${quoted(value)} ${problem}`, remedies })
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
  // Each value comes from the parser that has its type.
  return values as SettingValues
}

function find(
  name: SettingName,
  { flags = {}, environment = {}, file = {}, filePath = '' }: ConfigSources,
) {
  const variable = environmentName(name)
  // Shells and container files unset a variable by making it empty.
  const inEnvironment = environment[variable] || undefined
  if (flags[name] !== undefined) return { value: flags[name], source: `--${name}` }
  if (inEnvironment !== undefined) return { value: inEnvironment, source: variable }
  if (file[name] !== undefined) return { value: file[name], source: `${filePath}: ${name}` }
  return { value: settings[name].default, source: name }
}

/**
 * The settings of a command: from its `flags`, from `environment`, and from the configuration file that either of these names.
 *
 * @throws SetupError that names what is wrong, and where
 */
export async function findConfig(
  flags: WrittenSettings & { readonly config?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const filePath = flags.config ?? (environment['HOLDFAST_CONFIG'] || undefined)
  if (filePath === undefined) return resolveConfig({ flags, environment })
  // Loaded only now: it loads the YAML parser, and most commands are faster without it.
  const { readConfigFile } = await import('./read-config-file.ts')
  const file = await readConfigFile(filePath)
  return resolveConfig({ flags, environment, file, filePath })
}
