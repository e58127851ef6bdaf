import { expect } from 'chai'
import { minioEnvironment, minioKeys, type RunningMinio } from '../../src/minio/start-minio.ts'

const keys = { accessKey: 'access', secretKey: 'secret' }

describe('minioEnvironment', () => {
  it('has where the store is, and the keys', () => {
    const minio = { ...keys, endpoint: 'http://127.0.0.1:9000' } as RunningMinio
    expect(minioEnvironment(minio, 'files')).to.deep.equal({
      HOLDFAST_STORE: 'minio',
      HOLDFAST_MINIO_ENDPOINT: 'http://127.0.0.1:9000',
      HOLDFAST_MINIO_BUCKET: 'files',
      HOLDFAST_MINIO_ACCESS_KEY: 'access',
      HOLDFAST_MINIO_SECRET_KEY: 'secret',
    })
  })
})

describe('minioKeys', () => {
  it('has the keys alone', () => {
    expect(minioKeys(keys)).to.deep.equal({
      HOLDFAST_MINIO_ACCESS_KEY: 'access',
      HOLDFAST_MINIO_SECRET_KEY: 'secret',
    })
  })
})
