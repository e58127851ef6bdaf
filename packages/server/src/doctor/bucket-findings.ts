import { type Finding } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { explainMinioSetting } from '../stores/explain-minio-setting.ts'
import { findMinioSettings } from '../stores/minio-settings.ts'

/**
 * Looks at the bucket that the configuration names, with the keys from its environment.
 *
 * @throws SetupError for what is wrong with the settings; the reason of `signal`
 */
export async function* bucketFindings(
  config: Config,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const settings = await findMinioSettings(config)
  const { inspectBucket, StoreSettingError } = await import('@holdfast/store-minio')
  try {
    yield* inspectBucket({
      ...settings,
      region: config['minio-region'],
      prefix: config['minio-prefix'],
      createBucket: config['minio-create-bucket'],
      signal,
    })
  } catch (error) {
    throw error instanceof StoreSettingError ? explainMinioSetting(error) : error
  }
}
