import { stat } from 'node:fs/promises'
import { uptime } from 'node:os'
import { basename } from 'node:path'
import { isLocal } from '../files/is-local.ts'
import { identifyProcess } from './process-identity.ts'
import { isDead, parseTempDirectoryName } from './temp-owner.ts'

/** Who keeps temporary files in a directory. */
export interface TempOwner {
  readonly pid: number
  /** Certainly gone; nobody will go on with the files. */
  readonly isGone: boolean
}

/** The owner of `directory`, which is in a store's `tmp`; `undefined` if its name is none that a store gives. */
export async function findTempOwner(directory: string): Promise<TempOwner | undefined> {
  const owner = parseTempDirectoryName(basename(directory))
  if (!owner) return undefined
  const { mtimeMs: heartbeat } = await stat(directory)
  const now = Date.now()
  const bootedAt = now - uptime() * 1000
  const observation = { self: identifyProcess(), heartbeat, now, bootedAt }
  const isGone = isDead(owner, { ...observation, isLocal: await isLocal(directory) })
  return { pid: owner.pid, isGone }
}
