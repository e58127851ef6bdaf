import type { BigIntStats } from 'node:fs'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { nextModificationTime } from './modification-time.ts'

export interface Sealing {
  readonly calls: FileCalls
  /** The number of this process among those that share the directory. */
  readonly writer: number
}

/**
 * Gives `file` the time that its entity tag needs, and makes it durable. It never retries a sync: the kernel drops the pages
 * that it could not write, and a second sync would succeed without them.
 */
export async function sealFile(file: number, { calls, writer }: Sealing): Promise<BigIntStats> {
  await calls.setTimes(file, nextModificationTime(writer))
  await calls.sync(file)
  crashPoint('content-synced')
  return calls.stat(file)
}
