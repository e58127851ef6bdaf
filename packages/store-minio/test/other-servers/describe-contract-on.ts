import { describeBlobStore } from '@holdfast/contract'
import {
  describeWithS3Server,
  knownFailures,
  type S3ServerKind,
} from '@holdfast/testing/s3-servers'
import type { Finding } from '@holdfast/core'
import { expect } from 'chai'
import { inspectBucket } from '../../src/inspect/inspect-bucket.ts'
import { openMinioHarness } from '../minio-harness.ts'
import { blobTestsOfTheStore } from './tests-of-the-store.ts'

/**
 * Declares the tests of the contract suite that depend on the server, on a server of `kind`, and what an inspection says of that
 * server.
 */
export function describeContractOn(kind: S3ServerKind): void {
  const {
    contract: failures,
    byChance,
    findings,
    findingsByChance: byChanceFound = [],
  } = knownFailures[kind]
  const ofTheStore = blobTestsOfTheStore.map((title) => `${kind} as a BlobStore > ${title}`)
  describeWithS3Server(
    kind,
    `openMinioBlobStore on ${kind}`,
    (server) => describeBlobStore(kind, () => openMinioHarness(server())),
    { failures, leftOut: [...ofTheStore, ...byChance] },
  )
  describeWithS3Server(kind, `inspectBucket on ${kind}`, (server) => {
    it('says what the server cannot do, and leaves nothing', async () => {
      const bucket = await server().createBucket()
      const { endpoint, accessKey, secretKey, region } = server()
      const found: Finding[] = []
      const options = { endpoint, accessKey, secretKey, region, bucket }
      for await (const each of inspectBucket(options)) found.push(each)
      const isFault = ({ check, mark }: Finding) => mark !== 'ok' && !byChanceFound.includes(check)
      const faults = found.filter(isFault)
      expect(faults.map(({ check, mark }) => `${check}: ${mark}`)).to.deep.equal(findings)
      expect(await server().keys(bucket)).to.deep.equal([])
      expect(await server().unfinishedUploads(bucket)).to.deep.equal([])
    })
  })
}
