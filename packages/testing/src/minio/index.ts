export { minioImage, ownershipLabels } from './engine.ts'
export { describeWithContainers, describeWithMinio } from './describe-with-minio.ts'
export {
  startMinio,
  type OwnMinio,
  type StartMinioOptions,
  type RunningMinio,
  minioEnvironment,
  minioKeys,
  startMinioCluster,
  type MinioCluster,
  type StartMinioClusterOptions,
  policyOf,
  policyWithVersionsOf,
  temporaryKeys,
  withoutRight,
  type Policy,
} from './start-minio.ts'
