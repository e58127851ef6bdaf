export { minioImage, ownershipLabels } from './engine.ts'
export { describeWithContainers, describeWithMinio } from './describe-with-minio.ts'
export {
  startMinio,
  type OwnMinio,
  type StartMinioOptions,
  type RunningMinio,
  minioEnvironment,
  minioKeys,
} from './start-minio.ts'
export {
  startMinioCluster,
  type MinioCluster,
  type StartMinioClusterOptions,
} from './start-minio.ts'
export {
  policyOf,
  policyWithVersionsOf,
  temporaryKeys,
  withoutRight,
  type Policy,
} from './start-minio.ts'
