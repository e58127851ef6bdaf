import { setTimeout as delay } from 'node:timers/promises'
import { pausesForUpload } from '../errors/retry-strategy.ts'
import { isAnswer } from '../errors/s3-errors.ts'

/** Does `work` anew, for some seconds, when the store says that there is no such multipart upload. */
export async function insistOnUpload<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const pause of pausesForUpload) {
    try {
      return await work()
    } catch (error) {
      if (!isAnswer(error, 'NoSuchUpload')) throw error
      await delay(pause, undefined, { ...(signal && { signal }) })
    }
  }
  return work()
}
