import type { Config } from '../config/resolve-config.ts'
import { explainMinioSetting } from './explain-minio-setting.ts'
import { findMinioSettings } from './minio-settings.ts'
import type { ClosableStore, WarningLog } from './closable-store.ts'

/**
 * Opens the store in the bucket that the configuration names, with the keys from its environment.
 *
 * @throws SetupError that names all the settings that are missing, or the one that is wrong
 */
export async function openMinioStore(config: Config, log: WarningLog): Promise<ClosableStore> {
  const settings = await findMinioSettings(config)
  // Loaded only now: a server that keeps files on a disk does without the client for S3, which takes time and memory.
  const { openMinioBlobStore, StoreSettingError } = await import('@holdfast/store-minio')
  try {
    return await openMinioBlobStore({
      ...settings,
      region: config['minio-region'],
      prefix: config['minio-prefix'],
      cacheBytes: config['cache-size'],
      createBucket: config['minio-create-bucket'],
      log: { warn: (message) => log.warn(message) },
    })
  } catch (error) {
    throw error instanceof StoreSettingError ? explainMinioSetting(error) : error
  }
}
