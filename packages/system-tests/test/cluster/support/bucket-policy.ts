import { deployedFile } from './deployed-file.ts'

export interface Policy {
  readonly Statement: readonly { readonly Action: readonly string[] }[]
}

/** docs/deploy/bucket-policy.json for `bucket`. */
export const policyOf = (bucket: string) =>
  JSON.parse(
    deployedFile('bucket-policy.json', { 'arn:aws:s3:::files': `arn:aws:s3:::${bucket}` }),
  ) as Policy

/** `policy` without the right `action`. */
export const withoutRight = (policy: Policy, action: string): Policy => {
  const less = policy.Statement.map((statement) => ({
    ...statement,
    Action: statement.Action.filter((each) => each !== action),
  }))
  return { ...policy, Statement: less.filter(({ Action }) => Action.length > 0) }
}
