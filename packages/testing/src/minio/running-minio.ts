import { Agent } from 'node:https'
import { randomUUID } from 'node:crypto'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  PutBucketPolicyCommand,
  S3Client,
} from '@aws-sdk/client-s3'

/** A MinIO server that tests can talk to. */
export interface RunningMinio {
  /** `http://127.0.0.1:<port>`, or `https://…` where it was started with TLS. Other machines do not reach it. */
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** The PEM certificate of the authority that clients have to trust; none without TLS. */
  readonly certificate: string | undefined
  /** An S3 client of the administrator, to prepare a test and to look at what it has stored. */
  readonly client: S3Client
  /** Makes an empty bucket and resolves to its name, which is new: each test takes its own, and leaves it there. */
  createBucket(): Promise<string>
  /** Lets all clients read and write the objects of `bucket`, without credentials. */
  openToAll(bucket: string): Promise<void>
  /** The keys of the multipart uploads into `bucket` that have neither become objects nor been aborted. */
  unfinishedUploads(bucket: string): Promise<string[]>
}

/** What servers are started with, and the administrator's account. */
export const credentials = {
  accessKey: 'holdfast-tests',
  secretKey: 'correct-horse-battery-staple',
  region: 'us-east-1',
} as const

/** Describes the server at `endpoint` to tests. */
export function createRunningMinio(endpoint: string, certificate?: string): RunningMinio {
  const client = new S3Client({
    endpoint,
    region: credentials.region,
    credentials: { accessKeyId: credentials.accessKey, secretAccessKey: credentials.secretKey },
    forcePathStyle: true,
    ...(certificate !== undefined && {
      requestHandler: { httpsAgent: new Agent({ ca: certificate }) },
    }),
  })
  return {
    endpoint,
    ...credentials,
    certificate,
    client,
    createBucket: async () => {
      const bucket = `test-${randomUUID()}`
      await client.send(new CreateBucketCommand({ Bucket: bucket }))
      return bucket
    },
    openToAll: async (bucket) => {
      const statement = {
        Effect: 'Allow',
        Principal: '*',
        Action: ['s3:GetObject', 's3:PutObject'],
        Resource: `arn:aws:s3:::${bucket}/*`,
      }
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
      await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }))
    },
    unfinishedUploads: async (bucket) => {
      const { Uploads: uploads = [] } = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket }),
      )
      return uploads.map(({ Key: key }) => key ?? '')
    },
  }
}
