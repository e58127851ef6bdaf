import type { RunningMinio } from './start-minio.ts'
import { deployedFile } from '../documents.ts'

export interface Policy {
  readonly Statement: readonly { readonly Action: readonly string[] }[]
}

/** docs/deploy/bucket-policy.json for `bucket`. */
export const policyOf = (bucket: string) =>
  JSON.parse(
    deployedFile('bucket-policy.json', { 'arn:aws:s3:::files': `arn:aws:s3:::${bucket}` }),
  ) as Policy

/** The same with docs/deploy/bucket-versions-policy.json: what restoring earlier versions needs. */
export const policyWithVersionsOf = (bucket: string): Policy => {
  const names = { 'arn:aws:s3:::files': `arn:aws:s3:::${bucket}` }
  const more = JSON.parse(deployedFile('bucket-versions-policy.json', names)) as Policy
  const policy = policyOf(bucket)
  return { ...policy, Statement: [...policy.Statement, ...more.Statement] }
}

/** `policy` without the right `action`. */
export const withoutRight = (policy: Policy, action: string): Policy => {
  const less = policy.Statement.map((statement) => ({
    ...statement,
    Action: statement.Action.filter((each) => each !== action),
  }))
  return { ...policy, Statement: less.filter(({ Action }) => Action.length > 0) }
}

/** Access keys with the rights of `policy` and no others. */
export async function temporaryKeys(
  { endpoint, accessKey, secretKey, region }: RunningMinio,
  policy: Policy,
) {
  // Few of the tests that use MinIO need it.
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts')
  const sts = new STSClient({
    endpoint,
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  })
  const command = new AssumeRoleCommand({
    RoleArn: 'arn:aws:iam::000000000000:role/any',
    RoleSessionName: 'holdfast',
    Policy: JSON.stringify(policy),
  })
  const { Credentials: keys } = await sts.send(command)
  sts.destroy()
  return {
    accessKey: keys?.AccessKeyId ?? '',
    secretKey: keys?.SecretAccessKey ?? '',
    sessionToken: keys?.SessionToken ?? '',
  }
}
