import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import type { RunningMinio } from '@holdfast/testing/minio'
import type { Policy } from './bucket-policy.ts'

/** Keys for somebody with the rights of `policy` and no others. */
export async function temporaryKeys(
  { endpoint, accessKey, secretKey, region }: RunningMinio,
  policy: Policy,
) {
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
