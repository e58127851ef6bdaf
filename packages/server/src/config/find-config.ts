import type { WrittenSettings } from './read-config-file.ts'
import { resolveConfig, type Config } from './resolve-config.ts'

/**
 * The settings in force for a command that was given `flags`: those, `environment`, and the configuration file that
 * either names.
 *
 * @throws SetupError that names what is wrong, and where
 */
export async function findConfig(
  flags: WrittenSettings & { readonly config?: string | undefined },
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const filePath = flags.config ?? (environment['HOLDFAST_CONFIG'] || undefined)
  if (filePath === undefined) return resolveConfig({ flags, environment })
  // Loaded only now: it brings the parser of YAML, without which most commands are answered sooner.
  const { readConfigFile } = await import('./read-config-file.ts')
  const file = await readConfigFile(filePath)
  return resolveConfig({ flags, environment, file, filePath })
}
