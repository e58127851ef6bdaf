export { describeWithContainers, describeWithMinio } from './describe-with-minio.ts'
export { startMinio, type OwnMinio, type StartMinioOptions } from './start-minio.ts'
export type { RunningMinio } from './running-minio.ts'
