import type { Finding } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { findEngineSettings } from '../shared/engine-settings.ts'

/**
 * Examines the Valkey or Redis in which several servers count together, over the network; yields nothing if the server counts for
 * itself. It changes no key.
 *
 * @throws SetupError for settings with which no server starts, and for an engine that refuses this server or cannot count; the reason of
 * `signal`
 */
export async function* sharedFindings(
  config: Config,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  const settings = await findEngineSettings(config)
  if (settings === undefined) return
  // Loaded only where it is used: its client is large.
  const { examineEngine } = await import('@holdfast/shared-redis')
  yield* examineEngine(settings, signal)
}
