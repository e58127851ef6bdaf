import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { finding } from '@holdfast/core'
import type { TrialObjects } from '../bucket/trial-objects.ts'
import { failureOf } from '../http/s3-errors.ts'
import type { BucketStep } from './object-steps.ts'

/** How many writers try to create the same object, as those of several servers may. */
export const rivalWriters = 32

/** How many races there may be if no writer wins: the answer to the winner may have been lost. */
const races = 3

const remedy =
  'Use a server that decides If-None-Match in one step, as MinIO does; otherwise two uploads of a file that may only be created can both succeed.'

/**
 * Whether the server lets exactly one of 32 writers at once create an object, and keeps the object of that one. `changing` must not repeat
 * a request that the server may have carried out.
 */
export function createRivalsStep(changing: S3Client): BucketStep {
  return {
    check: 'writers at once',
    right: 's3:PutObject',
    needs: ['create-only', 'downloading'],
    async run(trial) {
      let outcome = await race(changing, trial, 1)
      for (let nth = 2; nth <= races && outcome.winners.length === 0; nth++) {
        outcome = await race(changing, trial, nth)
      }
      const { winners, kept } = outcome
      if (winners.length !== 1) {
        const message = `${winners.length} of ${rivalWriters} that create the same file at once succeed; one should`
        return finding('warning', this.check, message, remedy)
      }
      if (kept === `${winners[0]}`) {
        return finding('ok', this.check, `${rivalWriters} create the same file: one won`)
      }
      const message = `one of ${rivalWriters} that create the same file at once succeeds, but the content of another is kept`
      return finding('warning', this.check, message, remedy)
    },
  }
}

interface RaceOutcome {
  /** The numbers of the writers that have succeeded. */
  readonly winners: readonly number[]
  /** The content of the object afterwards. */
  readonly kept: string | undefined
}

/** Runs the `nth` race, with an object of its own, which it removes. */
async function race(changing: S3Client, trial: TrialObjects, nth: number): Promise<RaceOutcome> {
  const { bucket, made } = trial
  const key = `${trial.key}-rivals-${nth}`
  try {
    const winners = await winnersOfRace(changing, trial, key)
    return { winners, kept: winners.length === 0 ? undefined : await textOf(trial, key) }
  } finally {
    // The sweeps of trials remove what stays.
    const removing = changing.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))
    await removing.then(
      ({ VersionId }) => made(key, VersionId),
      () => {},
    )
  }
}

/** The numbers of the writers that the server has let create the object. */
async function winnersOfRace(
  changing: S3Client,
  { bucket, made }: TrialObjects,
  key: string,
): Promise<readonly number[]> {
  const write = async (writer: number): Promise<number | undefined> => {
    const body = { Body: `${writer}`, ContentLength: `${writer}`.length }
    const command = { Bucket: bucket, Key: key, IfNoneMatch: '*', ...body }
    try {
      const { VersionId } = await changing.send(new PutObjectCommand(command))
      made(key, VersionId)
      return writer
    } catch (error) {
      if ([409, 412].includes(failureOf(error).status)) return undefined
      throw error
    }
  }
  const writers = Array.from({ length: rivalWriters }, (_, writer) => writer)
  const outcomes = await Promise.allSettled(writers.map(write))
  const failed = outcomes.find(({ status }) => status === 'rejected')
  // All have ended, so that what they made is recorded and will be removed.
  if (failed?.status === 'rejected') throw failed.reason
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []))
}

async function textOf({ s3, bucket }: TrialObjects, key: string): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
  return Body?.transformToString()
}
