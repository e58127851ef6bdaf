import { finding, type Finding } from '@holdfast/core'
import { failureOf } from '../errors/s3-errors.ts'
import type { TrialObjects } from '../bucket/trial-objects.ts'

/** Something that a store does with a bucket, tried on its own. */
export interface BucketStep {
  readonly check: string
  /** What it is called in policies. */
  readonly right: string
  /** Checks that must have gone well. */
  readonly needs?: readonly string[]
  readonly run: (trial: TrialObjects) => Promise<Finding>
}

/** Takes `steps` one after the other; one that fails does not stop those that do not need it. */
export async function* takeSteps(
  steps: readonly BucketStep[],
  trial: TrialObjects,
): AsyncGenerator<Finding> {
  const passed = new Set<string>()
  for (const step of steps) {
    const missing = step.needs?.find((check) => !passed.has(check))
    const found =
      missing === undefined
        ? await step.run(trial).catch((error: unknown) => failed(step, error))
        : finding('skipped', step.check, `not tried, since this has failed: ${missing}`)
    if (found.mark === 'ok' || found.mark === 'warning') passed.add(step.check)
    yield found
  }
}

const policyRemedy = 'Give it the rights in docs/deploy/bucket-policy.json; see docs/minio.md.'

function failed({ check, right }: BucketStep, error: unknown): Finding {
  const { code, status } = failureOf(error)
  if (code === 'AccessDenied' || status === 403) {
    return finding('problem', check, `the access key lacks the right ${right}`, policyRemedy)
  }
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  const remedy = 'See what the log of the S3 server says of it.'
  return finding('problem', check, `failed: ${code || status}: ${reason}`, remedy)
}
