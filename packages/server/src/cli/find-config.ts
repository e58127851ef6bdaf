import { readConfigFile, type WrittenSettings } from '../config/read-config-file.ts'
import { resolveConfig, type Config } from '../config/resolve-config.ts'

/**
 * The settings in force for a command that was given `flags`: those, `environment`, and the configuration file that
 * either names.
 *
 * @throws UsageError that names what is wrong, and where
 */
export async function findConfig(
  flags: WrittenSettings & { readonly config?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const filePath = flags.config ?? (environment['HOLDFAST_CONFIG'] || undefined)
  const file = filePath === undefined ? {} : await readConfigFile(filePath)
  return resolveConfig({ flags, environment, file, filePath })
}
