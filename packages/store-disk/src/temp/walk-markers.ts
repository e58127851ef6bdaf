import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbsence, isSystemError } from '../files/file-calls.ts'
import { parseTempDirectoryName } from './temp-owner.ts'

/**
 * The directory in `tmp` that holds the markers. Each running walk has a marker: a directory for notes of files that are replaced
 * meanwhile. It is named after the temporary directory of its process, and a number.
 */
export const walksName = 'walks'

/** A directory changed during a walk, so that the walk may lack entries. */
export class DisturbedWalk extends Error {}

/** No marker can be made for a walk; `cause` is the error of the system. */
export class MarkerFailure extends Error {}

/** Attempts to make a marker: another process may remove the directory of all markers together with the last one. */
const attempts = 10

/** Owner and group, as with all directories. */
const mode = 0o750

export async function makeMarker(marker: string): Promise<void> {
  try {
    for (let attempt = 1; ; attempt++) {
      if (await tryToMake(marker)) return
      if (attempt === attempts) throw new Error(`${dirname(marker)} is removed again and again`)
      // If the file system was unmounted, `tmp` is missing here, and must not be made.
      await mkdir(dirname(marker), { mode }).catch((error: unknown) => {
        if (!isSystemError(error, 'EEXIST')) throw error
      })
    }
  } catch (cause) {
    throw new MarkerFailure('A walk cannot be marked', { cause })
  }
}

async function tryToMake(marker: string): Promise<boolean> {
  try {
    await mkdir(marker, { mode })
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

/**
 * Removes the marker of a walk; never fails. It moves the marker into `directory` first, where no process adds notes. A
 * marker that cannot be removed stays until the next sweep, or until its owner ends.
 */
export async function removeMarker(marker: string, directory: string): Promise<void> {
  const trash = join(directory, `${basename(marker)}.walk`)
  try {
    await rename(marker, trash)
    await rm(trash, { recursive: true })
  } catch {
    return
  }
  await rmdir(dirname(marker)).catch(() => {})
}

/** Removes the markers of processes that no longer have a directory in `tmp`; moves them into `directory` first. */
export async function removeDeadMarkers(tmp: string, directory: string): Promise<void> {
  const walks = join(tmp, walksName)
  for (const marker of await readdir(walks).catch(() => [])) {
    const owner = marker.slice(0, marker.lastIndexOf('.'))
    if (parseTempDirectoryName(owner) && (await isGone(join(tmp, owner)))) {
      await removeMarker(join(walks, marker), directory)
    }
  }
}

async function isGone(directory: string): Promise<boolean> {
  return stat(directory).then(() => false, isAbsence)
}
