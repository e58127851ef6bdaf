import type { Finding } from '@holdfast/core'
import {
  describeWithMinio,
  policyOf,
  withoutRight,
  type Policy,
  temporaryKeys,
} from '@holdfast/testing/minio'
import { inspectBucket } from '@holdfast/store-minio'
import { expect } from 'chai'

/** Which check each right is for. */
const checks = {
  's3:ListBucket': 'listing',
  's3:ListBucketMultipartUploads': 'unfinished uploads',
  's3:GetObject': 'downloading',
  's3:PutObject': 'uploading',
  's3:DeleteObject': 'deleting',
  's3:AbortMultipartUpload': 'giving up',
  's3:ListMultipartUploadParts': 'parts',
}

describeWithMinio('inspectBucket with an access key of few rights', (minio) => {
  let bucket: string
  beforeEach(async () => {
    bucket = await minio().createBucket()
  })

  const inspect = async (policy: Policy) => {
    const { endpoint } = minio()
    const keys = await temporaryKeys(minio(), policy)
    const findings: Finding[] = []
    for await (const each of inspectBucket({ endpoint, bucket, ...keys })) findings.push(each)
    return findings
  }

  it('is content with those of docs/deploy/bucket-policy.json, which do not show settings', async () => {
    const findings = await inspect(policyOf(bucket))
    const faults = findings.filter(({ mark }) => mark !== 'ok')
    expect(faults.map(({ check, message }) => `${check}: ${message}`)).to.deep.equal([
      'object lock: not shown to this access key (s3:GetBucketObjectLockConfiguration)',
      'lifecycle rules: not shown to this access key (s3:GetLifecycleConfiguration)',
    ])
  })

  for (const [right, check] of Object.entries(checks)) {
    it(`says that ${right} is missing, goes on, and removes what it may`, async () => {
      const findings = await inspect(withoutRight(policyOf(bucket), right))
      const [problem] = findings.filter(({ mark }) => mark === 'problem')
      expect(problem?.check).to.equal(check)
      expect(problem?.message).to.equal(`the access key lacks the right ${right}`)
      expect(problem?.remedies.join()).to.include('docs/deploy/bucket-policy.json')
      expect(findings.at(-1)?.check).to.equal('deleting')
      if (right !== 's3:AbortMultipartUpload') {
        expect(await minio().unfinishedUploads(bucket)).to.deep.equal([])
      }
    })
  }
})
