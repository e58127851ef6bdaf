import type { StoreSettingError } from '@holdfast/store-minio'
import { UsageError } from '../config/usage-error.ts'

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
export function explainMinioSetting({ message, setting, cause }: StoreSettingError): UsageError {
  const place = setting === undefined ? '' : ` (${places[setting]})`
  const remedy =
    cause instanceof Error && cause.name === 'NoSuchBucket'
      ? ': make it, or start the server with --minio-create-bucket'
      : ''
  const text = message.replace(/\.$/, '')
  return new UsageError(`Cannot use the MinIO store: ${text}${place}${remedy}.`)
}
