import type { WrittenSettings } from './read-config-file.ts'
import { resolveConfig, type Config } from './resolve-config.ts'

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
