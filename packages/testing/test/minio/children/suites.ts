/** Suites as tests declare them, for runs of mocha that are looked at. */
import {
  describeWithContainers,
  describeWithMinio,
} from '../../../src/minio/describe-with-minio.ts'

describe('Plain', () => {
  it('needs no container', () => {})
})

describeWithMinio('With MinIO', (minio) => {
  it('needs one', () => minio())
})

describeWithContainers('With containers', () => {
  it('needs many', () => {})
})
