import { asSentence, SetupError } from '@holdfast/core'
import type { StoreSettingError } from '@holdfast/store-minio'

const places: Readonly<Record<NonNullable<StoreSettingError['setting']>, string>> = {
  endpoint: '--minio-endpoint',
  bucket: '--minio-bucket',
  accessKey: 'HOLDFAST_MINIO_ACCESS_KEY',
  secretKey: 'HOLDFAST_MINIO_SECRET_KEY',
  region: '--minio-region',
  prefix: '--minio-prefix',
  createBucket: '--minio-create-bucket',
}

/** Says where the setting of the MinIO store that is wrong was written. */
export function explainMinioSetting({
  problem,
  remedies,
  setting,
  cause,
}: StoreSettingError): SetupError {
  const place = setting === undefined ? '' : ` (${places[setting]})`
  const text = `Cannot use the MinIO store: ${problem}${place}`
  if (cause instanceof Error && cause.name === 'NoSuchBucket') {
    return new SetupError(`${text}:`, ['make it, or start the server with --minio-create-bucket.'])
  }
  const said = asSentence({ problem: text, remedies })
  return new SetupError(said.problem, said.remedies)
}
