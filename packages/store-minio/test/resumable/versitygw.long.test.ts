// Runs the tests of the contract that depend on the server on one that has to be built first.
import { describeResumableUploads } from '@holdfast/contract'
import { describeWithS3Server } from '@holdfast/testing/s3-servers'
import { openMinioHarness } from '../minio-harness.ts'
import { uploadTestsOfTheStore } from '../other-servers/tests-of-the-store.ts'

describeWithS3Server(
  'versitygw',
  'openMinioBlobStore on versitygw, for pieces',
  (server) => {
    describeResumableUploads('versitygw', () => openMinioHarness(server()), { manyAppends: 20 })
  },
  {
    leftOut: uploadTestsOfTheStore.map((title) => `versitygw as ResumableUploads > ${title}`),
  },
)
