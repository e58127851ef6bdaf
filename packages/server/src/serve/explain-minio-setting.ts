import type { StoreSettingError } from '@holdfast/store-minio'
import { UsageError } from '../cli/usage-error.ts'

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
export function explainMinioSetting({ message, setting }: StoreSettingError): UsageError {
  const place = setting === undefined ? '' : ` (${places[setting]})`
  return new UsageError(`Cannot use the MinIO store: ${message.replace(/\.$/, '')}${place}.`)
}
