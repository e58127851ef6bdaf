import { setTimeout as delay } from 'node:timers/promises'
import { compareAndSwapProblem } from './compare-and-swap-problem.ts'
import { patience, type ServerTrial } from './server-trial.ts'
import { createTrialObjects } from './trial-objects.ts'

/** Milliseconds before a trial that failed is repeated. */
const pauses = [100, 1000]

/** Whether objects can be replaced under a condition, and says in the log why not. Never throws. */
export async function canCompareAndSwap(trial: ServerTrial): Promise<boolean> {
  const problem = await tryRepeatedly(trial).catch(
    (error: unknown) => `did not let it be tried (${String(error)})`,
  )
  if (problem === undefined) return true
  trial.log.warn(
    `Uploads cannot be resumed: the S3 server ${problem}. holdfast doctor says what to do`,
  )
  return false
}

async function tryRepeatedly(trial: ServerTrial): Promise<string | undefined> {
  const signal = AbortSignal.timeout(patience)
  for (const pause of pauses) {
    try {
      return await tryOnce(trial, signal)
    } catch {
      await delay(pause, undefined, { signal })
    }
  }
  return tryOnce(trial, signal)
}

async function tryOnce(
  { client: { s3, changing }, bucket, prefix }: ServerTrial,
  signal: AbortSignal,
): Promise<string | undefined> {
  const trial = createTrialObjects(s3, bucket, prefix)
  const versions = new Set<string>()
  const made = (key: string, versionId: string | undefined) => {
    if (versionId !== undefined) versions.add(versionId)
    trial.made(key, versionId)
  }
  try {
    return await compareAndSwapProblem(changing, { bucket, key: trial.key, made }, signal)
  } finally {
    if (versions.size > 0) await trial.remove()
  }
}
