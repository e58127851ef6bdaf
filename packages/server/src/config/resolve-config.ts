import { adviceOf, asSentence, SetupError } from '@holdfast/core'
import { quoted } from './quoted.ts'
import type { WrittenSettings } from './read-config-file.ts'
import { readSecret } from './read-secret.ts'
import type { SecretName } from './secrets.ts'
import {
  environmentName,
  settingNames,
  settings,
  type SettingName,
  type StoreKind,
} from './settings.ts'

/** What `holdfast serve` runs with; see `settings` for what each means. Sizes in bytes, times in milliseconds. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly 'tls-cert': string | undefined
  readonly 'tls-key': string | undefined
  readonly customers: string
  readonly store: StoreKind
  readonly 'max-file-size': number | undefined
  readonly 'max-connections': number | undefined
  readonly 'max-requests': number
  readonly 'max-requests-per-customer': number
  readonly 'trust-proxy': readonly string[] | undefined
  readonly 'login-failures-per-address': number
  readonly 'login-failures-per-name': number
  readonly 'login-failures-window': number
  readonly 'login-failures-exempt': readonly string[] | undefined
  readonly workers: number
  readonly 'idle-timeout': number
  readonly 'shutdown-grace': number
  readonly 'shutdown-delay': number
  readonly 'admin-port': number | undefined
  readonly 'admin-host': string
  readonly 'log-level': string
  readonly 'log-format': 'auto' | 'json' | 'pretty'
  readonly 'audit-log': string | undefined
  readonly data: string
  readonly 'min-free-space': number
  readonly 'cache-size': number
  readonly 'minio-endpoint': string | undefined
  readonly 'minio-bucket': string | undefined
  readonly 'minio-region': string
  readonly 'minio-prefix': string
  readonly 'minio-create-bucket': boolean
  /**
   * Reads a secret when it is needed, so that one that nobody needs may be wrong; see `readSecret`. No print of the
   * configuration shows it.
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
  const resolve = (name: SettingName) => {
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
  const values = Object.fromEntries(settingNames.map((name) => [name, resolve(name)]))
  const { environment = {} } = sources
  return {
    ...values,
    readSecret: (name: SecretName) => readSecret(name, environment),
  } as unknown as Config
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
