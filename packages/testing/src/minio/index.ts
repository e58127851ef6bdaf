export { minioImage } from './ensure-minio-image.ts'
export { ownershipLabels } from './ownership.ts'
export { describeWithContainers, describeWithMinio } from './describe-with-minio.ts'
export { startMinio, type OwnMinio, type StartMinioOptions } from './start-minio.ts'
export { minioEnvironment, minioKeys } from './minio-environment.ts'
export type { RunningMinio } from './running-minio.ts'
export {
  startMinioCluster,
  type MinioCluster,
  type StartMinioClusterOptions,
} from './start-minio-cluster.ts'
