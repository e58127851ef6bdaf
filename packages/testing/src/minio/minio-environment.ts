import type { RunningMinio } from './start-minio.ts'

/** The keys of MinIO, as the environment of `holdfast` has them. */
export function minioKeys({
  accessKey,
  secretKey,
}: Pick<RunningMinio, 'accessKey' | 'secretKey'>): Readonly<Record<string, string>> {
  return { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
}

/** The environment of a server whose store is `bucket`. */
export function minioEnvironment(
  minio: Pick<RunningMinio, 'endpoint' | 'accessKey' | 'secretKey'>,
  bucket: string,
): Readonly<Record<string, string>> {
  return {
    HOLDFAST_STORE: 'minio',
    HOLDFAST_MINIO_ENDPOINT: minio.endpoint,
    HOLDFAST_MINIO_BUCKET: bucket,
    ...minioKeys(minio),
  }
}
