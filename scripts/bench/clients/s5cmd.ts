import type { RunningSubject, S3Bucket } from '../subjects/subject.ts'
import type { Client } from './client.ts'

/** What `go install` makes it of. */
export const s5cmdPackage = 'github.com/peak/s5cmd/v2@v2.3.0'

/** s5cmd as it comes. */
export function s5cmd(
  command: string,
  server: RunningSubject,
  { endpoint, bucket, accessKey, secretKey }: S3Bucket,
): Client {
  const environment = { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey }
  const copy = (from: string, to: string) => ({
    command,
    args: ['--endpoint-url', endpoint, 'cp', from, to],
    environment: { ...environment, AWS_REGION: 'us-east-1' },
  })
  return {
    name: `s5cmd (${server.name})`,
    server,
    most: 1000,
    put: ({ prefix }) => copy('*', `s3://${bucket}/${prefix}/`),
    get: ({ prefix }) => copy(`s3://${bucket}/${prefix}/*`, '.'),
  }
}
