import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbsence } from '../files/system-error.ts'
import { identifyProcess, type ProcessIdentity } from '../temp/process-identity.ts'
import { hasEnded, parseTempDirectoryName } from '../temp/temp-owner.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * What is known of the owner of an upload's content. `gone`: the process has certainly ended, and has no file open. `silent`: it
 * runs where it cannot be looked up, and gives no sign of life, but may come back. `alive`: anything else.
 */
export type OwnerVerdict = 'gone' | 'silent' | 'alive'

/** Milliseconds without a heartbeat, of which one comes every 20 seconds. */
const silence = 60 * 1000

let self: ProcessIdentity | undefined

/** Judges the owner, which is called as its directory in `tmp`. */
export async function judgeOwner(
  owner: string,
  { tempDirectory, isLocal }: Pick<UploadSite, 'tempDirectory' | 'isLocal'>,
): Promise<OwnerVerdict> {
  if (owner === basename(tempDirectory.path)) return 'gone'
  const identity = parseTempDirectoryName(owner)
  if (!identity) return 'silent'
  self ??= identifyProcess()
  const ended = hasEnded(identity, self, isLocal)
  if (ended !== undefined) return ended ? 'gone' : 'alive'
  const heartbeat = await lastHeartbeat(join(dirname(tempDirectory.path), owner))
  return Date.now() - heartbeat > silence ? 'silent' : 'alive'
}

async function lastHeartbeat(directory: string): Promise<number> {
  try {
    return (await stat(directory)).mtimeMs
  } catch (error) {
    if (isAbsence(error)) return 0
    throw error
  }
}
