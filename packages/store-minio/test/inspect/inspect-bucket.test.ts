import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type LifecycleRule,
} from '@aws-sdk/client-s3'
import type { Finding } from '@holdfast/core'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { removeOldTrials } from '../../src/bucket/trial-objects.ts'
import { StoreSettingError } from '../../src/http/s3-errors.ts'
import { inspectBucket, type BucketInspectionOptions } from '../../src/inspect/inspect-bucket.ts'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'
import { startAlteringProxy, type Alterations } from './start-altering-proxy.ts'

const faults = (findings: readonly Finding[]) => findings.filter(({ mark }) => mark !== 'ok')

const found = (findings: readonly Finding[], check: string) =>
  findings.find((each) => each.check === check)

describeWithMinio('inspectBucket', (minio) => {
  let bucket: string
  beforeEach(async () => {
    bucket = await minio().createBucket()
  })

  const optionsFor = (options: Partial<BucketInspectionOptions> = {}): BucketInspectionOptions => {
    const { endpoint, accessKey, secretKey, region } = minio()
    return { endpoint, accessKey, secretKey, region, bucket, ...options }
  }
  const inspect = async (options: Partial<BucketInspectionOptions> = {}) => {
    const findings: Finding[] = []
    for await (const each of inspectBucket(optionsFor(options))) findings.push(each)
    return findings
  }
  const inspectThrough = async (alterations: Alterations) => {
    await using proxy = await startAlteringProxy(minio().endpoint, alterations)
    return await inspect({ endpoint: proxy.endpoint })
  }
  const keys = async () => {
    const { Contents = [] } = await minio().client.send(
      new ListObjectsV2Command({ Bucket: bucket }),
    )
    return Contents.map(({ Key }) => Key)
  }

  it('finds nothing wrong with a bucket of MinIO, goes through each check, and leaves nothing', async () => {
    const findings = await inspect({ prefix: 'some/where/' })
    expect(faults(findings)).to.deep.equal([])
    expect(findings.map(({ check }) => check).join(', ')).to.equal(
      'encryption, clock, bucket, uploading, create-only, downloading, ranges, listing, large uploads, large create-only, unfinished uploads, parts, giving up, resuming uploads, writers at once, names, similar names, versioning, object lock, lifecycle rules, strangers, deleting',
    )
    expect(found(findings, 'bucket')?.message).to.match(
      /^test-.* at http:.* answers within \d+ ms$/,
    )
    expect(found(findings, 'uploading')?.message).to.match(/^works; a small file took \d+ ms$/)
    expect(await keys()).to.deep.equal([])
    expect(await minio().unfinishedUploads(bucket)).to.deep.equal([])
  })

  it('is seen by no customer, and makes none', async () => {
    const store = await openMinioBlobStore(optionsFor())
    const key = { customer: 'alice', name: 'a' }
    await store.put(
      key,
      (async function* () {
        yield Buffer.from('content')
      })(),
    )
    const seen = new Set<string>()
    for await (const { check } of inspectBucket(optionsFor())) {
      for await (const customer of store.customers()) seen.add(customer)
      for await (const names of store.list('alice'))
        for (const name of names) seen.add(`${name} at ${check}`.split(' ')[0] ?? '')
    }
    expect([...seen]).to.deep.equal(['alice', 'a'])
    expect((await store.stat(key))?.size).to.equal(7)
    await store.close()
  })

  it('removes what it has made when it is aborted, and when no more findings are asked for', async () => {
    const stop = new AbortController()
    const reason = new Error('stop')
    const aborted = (async () => {
      for await (const { check } of inspectBucket(optionsFor({ signal: stop.signal }))) {
        if (check === 'large create-only') stop.abort(reason)
      }
    })()
    expect(await aborted.catch((error: unknown) => error)).to.equal(reason)
    for await (const { check } of inspectBucket(optionsFor())) if (check === 'listing') break
    expect(await keys()).to.deep.equal([])
    expect(await minio().unfinishedUploads(bucket)).to.deep.equal([])
  })

  it('leaves alone what another inspection is doing, and what is not of inspections', async () => {
    const { client } = minio()
    for (const Key of ['.holdfast-trial-young', 'alice/.holdfast-trial-file']) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
    }
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'alice/under way' }))
    expect(faults(await inspect())).to.deep.equal([])
    expect(await keys()).to.deep.equal(['.holdfast-trial-young', 'alice/.holdfast-trial-file'])
    expect(await minio().unfinishedUploads(bucket)).to.deep.equal(['alice/under way'])
  })

  it('removes what a killed one has left more than an hour ago, and nothing else', async () => {
    const { client } = minio()
    const ofCustomer = 'a/.holdfast-trial-customer/file'
    for (const Key of ['a/.holdfast-trial-1', 'a/b', '.holdfast-trial-1', ofCustomer]) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
    }
    for (const Key of ['a/.holdfast-trial-2', 'a/c', ofCustomer]) {
      await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }))
    }
    await removeOldTrials(client, bucket, 'a/', Date.now() + 2 * 60 * 60 * 1000)
    expect(await keys()).to.deep.equal(['.holdfast-trial-1', ofCustomer, 'a/b'])
    expect(await minio().unfinishedUploads(bucket)).to.have.members(['a/c', ofCustomer])
  })

  it('does not make a bucket', async () => {
    const missing = `missing-${randomUUID()}`
    const findings = await inspect({ bucket: missing, createBucket: true })
    expect(findings.at(-1)).to.deep.include({ check: 'bucket', mark: 'skipped' })
    expect(findings.at(-1)?.message).to.equal(
      `${missing} is missing; the server makes it at its start`,
    )
    const failure = await inspect({ bucket: missing }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(StoreSettingError).and.have.property('setting', 'bucket')
  })

  it('reports versions that stay', async () => {
    const { client } = minio()
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    const [fault, ...others] = faults(await inspect())
    expect(others).to.deep.equal([])
    expect(fault).to.deep.include({ check: 'versioning', mark: 'warning' })
    expect(fault?.message).to.match(/^is on; replaced and deleted files stay/)
    expect(fault?.remedies[0]).to.equal(`mc version suspend minio/${bucket}`)
    const left = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    expect([...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])]).to.deep.equal([])
  })

  it('reports files that stay although they were deleted', async () => {
    const Bucket = `test-${randomUUID()}`
    await minio().client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    const lock = found(await inspect({ bucket: Bucket }), 'object lock')
    expect(lock?.mark).to.equal('warning')
    expect(lock?.message).to.equal('is on; what customers delete stays until its retention ends')
  })

  const lifecycle = async (rule: Partial<LifecycleRule>, prefix = '') => {
    const Rules = [{ ID: 'tidy', Status: 'Enabled' as const, Filter: { Prefix: '' }, ...rule }]
    const LifecycleConfiguration = { Rules }
    await minio().client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }),
    )
    return found(await inspect({ prefix }), 'lifecycle rules')
  }

  it('reports rules that delete files, and no others', async () => {
    const deleting = await lifecycle({ Expiration: { Days: 30 } })
    expect(deleting?.mark).to.equal('problem')
    expect(deleting?.message).to.equal(
      'the rule "tidy" deletes files of customers 30 days after their upload',
    )
    expect(deleting?.remedies).to.deep.equal([`mc ilm rule rm --id "tidy" minio/${bucket}`])
    for (const rule of [
      { Expiration: { Days: 30 }, Status: 'Disabled' as const },
      { Expiration: { Days: 30 }, Filter: { Tag: { Key: 'a', Value: 'b' } } },
      { NoncurrentVersionExpiration: { NoncurrentDays: 30 } },
    ]) {
      expect((await lifecycle(rule))?.message, JSON.stringify(rule)).to.equal('delete no files')
    }
  })

  it('knows whose files a rule means', async () => {
    const oldForm = { Filter: undefined, Prefix: 'logs/', Expiration: { Days: 3 } }
    expect((await lifecycle(oldForm, 'files/'))?.mark).to.equal('ok')
    const rule = { Expiration: { Days: 1 }, Filter: { Prefix: 'logs/' } }
    expect((await lifecycle(rule))?.mark, 'a customer’s').to.equal('problem')
    expect((await lifecycle(rule, 'holdfast/'))?.mark, 'another prefix').to.equal('ok')
    expect((await lifecycle(rule, 'logs/holdfast/'))?.mark, 'above').to.equal('problem')
  })

  it('reports a bucket that is open to strangers', async () => {
    await minio().openToAll(bucket)
    const strangers = found(await inspect(), 'strangers')
    expect(strangers?.mark).to.equal('problem')
    expect(strangers?.message).to.match(/^everyone .* may read and write files of customers/)
    expect(strangers?.remedies).to.deep.equal([`mc anonymous set none minio/${bucket}`])
  })

  for (const [minutes, mark] of [
    [-2, 'warning'],
    [20, 'problem'],
  ] as const) {
    it(`reports a clock that is ${minutes} minutes off`, async () => {
      const date = new Date(Date.now() + minutes * 60_000).toUTCString()
      const clock = found(await inspectThrough({ headers: (all) => ({ ...all, date }) }), 'clock')
      expect(clock?.mark).to.equal(mark)
      expect(clock?.message).to.match(
        new RegExp(`^this machine is \\d+ s ${minutes < 0 ? 'ahead of' : 'behind'} the S3 server`),
      )
      expect(clock?.remedies.join()).to.include('timedatectl set-ntp true')
    })
  }

  it('reports a server that ignores If-None-Match', async () => {
    const findings = await inspectThrough({ answer: pretendToWrite })
    for (const check of ['create-only', 'large create-only']) {
      expect(found(findings, check)?.mark, check).to.equal('problem')
      expect(found(findings, check)?.message).to.equal(
        'the server ignores If-None-Match; create-only uploads would replace files',
      )
      expect(found(findings, check)?.remedies.join()).to.match(/that honours If-None-Match/)
    }
    expect(found(findings, 'writers at once')?.mark).to.equal('skipped')
    expect(faults(findings)).to.have.length(3)
  })

  it('reports a server that does not take If-None-Match', async () => {
    const findings = await inspectThrough({ answer: refuseConditions })
    expect(faults(findings).map(({ check }) => check)).to.deep.equal([
      'create-only',
      'large create-only',
      'writers at once',
    ])
    expect(faults(findings)[0]?.message).to.equal(
      'the server does not take If-None-Match (501); create-only uploads fail',
    )
  })

  it('reports a server that answers with something else than was asked for', async () => {
    const findings = await inspectThrough({
      answer: ({ method, headers }, response) => {
        const isRange = method === 'GET' && headers.range !== undefined
        if (isRange) response.end('holdfast')
        return isRange
      },
    })
    expect(faults(findings).map(({ check, mark }) => `${check} ${mark}`)).to.deep.equal([
      'ranges problem',
    ])
    expect(faults(findings)[0]?.message).to.match(
      /^the server answers a request for a part of a file with other/,
    )
  })

  it('reports a deletion that was none', async () => {
    const findings = await inspectThrough({
      answer: ({ method, url = '' }, response) => {
        const isObject = method === 'DELETE' && !url.includes('uploadId')
        if (isObject) response.writeHead(204).end()
        return isObject
      },
    })
    const deleting = found(findings, 'deleting')
    expect(deleting?.mark).to.equal('problem')
    expect(deleting?.message).to.match(/^\.holdfast-trial-.* is still there$/)
    expect(deleting?.remedies.join()).to.match(/^mc rm minio\/test-.*\/\.holdfast-trial-/)
  })

  it('goes on after a failure with what does not need it', async () => {
    const findings = await inspectThrough({
      answer: ({ method, url = '' }, response) => {
        const isPut = method === 'PUT' && !url.includes('uploadId')
        if (isPut)
          response.writeHead(400).end('<Error><Code>Odd</Code><Message>no</Message></Error>')
        return isPut
      },
    })
    expect(found(findings, 'uploading')?.mark).to.equal('problem')
    expect(found(findings, 'uploading')?.message).to.equal('failed: Odd: no')
    expect(found(findings, 'downloading')?.message).to.equal(
      'not tried, since this has failed: uploading',
    )
    for (const check of ['listing', 'large uploads', 'giving up', 'object lock']) {
      expect(found(findings, check)?.mark, check).to.equal('ok')
    }
  })
})

/** Answers a conditional write as if it had been carried out. */
function pretendToWrite({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers['if-none-match'] === undefined) return false
  const completed =
    '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>'
  response.writeHead(200, { etag: '"x"' }).end(method === 'POST' ? completed : '')
  return true
}

function refuseConditions({ headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers['if-none-match'] === undefined) return false
  const error = '<Error><Code>NotImplemented</Code><Message>A header is not known</Message></Error>'
  response.writeHead(501).end(error)
  return true
}
