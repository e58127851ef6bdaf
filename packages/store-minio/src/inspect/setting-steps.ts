import {
  GetBucketLifecycleConfigurationCommand,
  GetObjectLockConfigurationCommand,
  HeadObjectCommand,
  type LifecycleRule,
} from '@aws-sdk/client-s3'
import { finding, type Finding } from '@holdfast/core'
import { failureOf, isAnswer } from '../errors/s3-errors.ts'
import type { BucketStep } from './bucket-step.ts'
import type { TrialObjects } from '../bucket/trial-objects.ts'

const versioning: BucketStep = {
  check: 'versioning',
  right: 's3:GetObject',
  needs: ['downloading'],
  async run({ s3, bucket, key }) {
    const command = new HeadObjectCommand({ Bucket: bucket, Key: key })
    const { VersionId } = await s3.send(command)
    if (VersionId === undefined || VersionId === 'null') return finding('ok', this.check, 'is off')
    const message = 'is on; replaced and deleted files stay, and take room that quotas do not count'
    const remedies = [
      `mc version suspend minio/${bucket}`,
      `or remove them after a time: mc ilm import minio/${bucket} < docs/deploy/bucket-lifecycle.json`,
    ]
    return finding('warning', this.check, message, ...remedies)
  },
}

const objectLock: BucketStep = {
  check: 'object lock',
  right: 's3:GetBucketObjectLockConfiguration',
  run: ({ s3, bucket }) =>
    ifShown(objectLock, async () => {
      const command = new GetObjectLockConfigurationCommand({ Bucket: bucket })
      const { ObjectLockConfiguration: lock } = await s3.send(command)
      if (lock?.ObjectLockEnabled !== 'Enabled') return finding('ok', objectLock.check, 'is off')
      const message = 'is on; what customers delete stays until its retention ends'
      const remedy = 'Use a bucket without it, unless that is what the law wants of you.'
      return finding('warning', objectLock.check, message, remedy)
    }),
}

const lifecycle: BucketStep = {
  check: 'lifecycle rules',
  right: 's3:GetLifecycleConfiguration',
  run: (trial) =>
    ifShown(lifecycle, async () => {
      const command = new GetBucketLifecycleConfigurationCommand({ Bucket: trial.bucket })
      const { Rules: rules = [] } = await trial.s3.send(command)
      return judgeRules(rules, trial)
    }),
}

function judgeRules(rules: readonly LifecycleRule[], { bucket, key }: TrialObjects): Finding {
  const prefix = key.slice(0, key.lastIndexOf('/') + 1)
  const deleting = rules.find((rule) => deletesBelow(rule, prefix))
  if (!deleting) return finding('ok', lifecycle.check, 'delete no files')
  const after = deleting.Expiration?.Days
  const time = after === undefined ? 'at a date' : `${after} days after their upload`
  const message = `the rule "${deleting.ID ?? ''}" deletes files of customers ${time}`
  const remedy = `mc ilm rule rm --id "${deleting.ID ?? ''}" minio/${bucket}`
  return finding('problem', lifecycle.check, message, remedy)
}

/** Whether the rule deletes current objects that could be ours. */
function deletesBelow(rule: LifecycleRule, prefix: string): boolean {
  const { Status, Expiration, Filter } = rule
  if (Status !== 'Enabled' || !Expiration) return false
  if (Expiration.Days === undefined && Expiration.Date === undefined) return false
  // oxlint-disable-next-line typescript/no-deprecated -- rules that were made so are still there
  const scope = Filter?.Prefix ?? Filter?.And?.Prefix ?? rule.Prefix ?? ''
  // Our objects have no tags.
  if (Filter?.Tag !== undefined || (Filter?.And?.Tags?.length ?? 0) > 0) return false
  return scope.startsWith(prefix) || prefix.startsWith(scope)
}

/** An access key need not have the rights to see settings. A server that does not know them has none. */
async function ifShown({ check, right }: BucketStep, look: () => Promise<Finding>) {
  try {
    return await look()
  } catch (error) {
    const { status } = failureOf(error)
    if (status === 403) return finding('skipped', check, `not shown to this access key (${right})`)
    if (status === 404 || status === 501 || isAnswer(error, 'NotImplemented')) {
      return finding('ok', check, 'there are none')
    }
    throw error
  }
}

/** What the bucket does by itself. */
export const settingSteps: readonly BucketStep[] = [versioning, objectLock, lifecycle]
