import { SetupError } from '@holdfast/core'
import { expect } from 'chai'
import { refuseFlagsOfOtherStores } from '../../src/settings/flags.ts'

describe('refuseFlagsOfOtherStores', () => {
  it('lets flags of the server and of the store in use pass', () => {
    refuseFlagsOfOtherStores({ port: '1', store: 'disk', data: 'd' }, ['disk'])
    refuseFlagsOfOtherStores({ port: '1', 'minio-bucket': 'b', 'minio-create-bucket': 'true' }, [
      'minio',
    ])
  })

  it('lets flags of both pass where both are in use', () => {
    refuseFlagsOfOtherStores({ data: 'd', 'minio-bucket': 'b' }, ['disk', 'minio'])
  })

  it('names every flag of a store that is not in use', () => {
    expect(() =>
      refuseFlagsOfOtherStores({ 'minio-bucket': 'b', 'minio-prefix': '' }, ['disk']),
    ).to.throw(
      SetupError,
      'The store is disk, which does not use --minio-bucket, --minio-prefix. Choose the store minio',
    )
    expect(() => refuseFlagsOfOtherStores({ data: './data' }, ['minio'])).to.throw(
      SetupError,
      'The store is minio, which does not use --data. Choose the store disk',
    )
  })
})
