// Runs the contract on a server that has to be built first.
import { describeResumableUploads } from '@holdfast/contract'
import { describeWithS3Server } from '@holdfast/s3-servers'
import { openMinioHarness } from '../minio-harness.ts'

const MiB = 1024 * 1024

describeWithS3Server('versitygw', 'openMinioBlobStore on versitygw, for pieces', [], (server) => {
  describeResumableUploads('versitygw', () => openMinioHarness(server()), {
    manyAppends: 20,
    appendMemory: 64 * MiB,
  })
})
