import { stat } from 'node:fs/promises'
import { uptime } from 'node:os'
import { basename } from 'node:path'
import { isLocal } from '../files/is-local.ts'
import { isDead, parseOwnerName } from './owner-name.ts'
import { identifyProcess } from './process-identity.ts'

/** Who keeps temporary files in a directory. */
export interface DirectoryOwner {
  readonly pid: number
  /** Certainly gone; nobody will go on with the files. */
  readonly isGone: boolean
}

/** The owner of `directory`, which is in a store's `tmp`; `undefined` if its name is none that a store gives. */
export async function lookAtOwner(directory: string): Promise<DirectoryOwner | undefined> {
  const owner = parseOwnerName(basename(directory))
  if (!owner) return undefined
  const { mtimeMs: heartbeat } = await stat(directory)
  const now = Date.now()
  const bootedAt = now - uptime() * 1000
  const sighting = { self: identifyProcess(), heartbeat, now, bootedAt }
  const isGone = isDead(owner, { ...sighting, isLocal: await isLocal(directory) })
  return { pid: owner.pid, isGone }
}
