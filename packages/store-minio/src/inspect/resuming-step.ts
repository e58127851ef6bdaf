import type { S3Client } from '@aws-sdk/client-s3'
import { finding } from '@holdfast/core'
import { compareAndSwapProblem } from '../bucket/compare-and-swap-problem.ts'
import type { BucketStep } from './bucket-step.ts'

/** Checks whether the store can keep uploads that come in pieces. */
export function createResumingStep(changing: S3Client): BucketStep {
  return {
    check: 'resuming uploads',
    right: 's3:PutObject',
    needs: ['uploading', 'large uploads'],
    async run(trial) {
      const problem = await compareAndSwapProblem(changing, trial)
      if (problem === undefined) return finding('ok', this.check, 'works')
      const message = `the server ${problem}; uploads that break off cannot go on, and begin anew`
      const remedy = 'Use a server that honours If-Match on PutObject, as MinIO does.'
      return finding('warning', this.check, message, remedy)
    },
  }
}
