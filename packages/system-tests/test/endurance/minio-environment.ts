import type { RunningMinio } from '@holdfast/minio-container'

/** The environment of a server whose store is `bucket`. */
export function minioEnvironment(
  { endpoint, accessKey, secretKey }: RunningMinio,
  bucket: string,
): Readonly<Record<string, string>> {
  return {
    HOLDFAST_STORE: 'minio',
    HOLDFAST_MINIO_ENDPOINT: endpoint,
    HOLDFAST_MINIO_BUCKET: bucket,
    HOLDFAST_MINIO_ACCESS_KEY: accessKey,
    HOLDFAST_MINIO_SECRET_KEY: secretKey,
  }
}
