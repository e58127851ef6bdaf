import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import { parseTempDirectoryName } from './temp-owner.ts'

/**
 * The directory in `tmp` of the markers of walks that are under way: a directory each, for notes of what was replaced
 * meanwhile, named after the directory of the process that walks, and a number.
 */
export const walksName = 'walks'

/** A walk was not alone in a directory, and has perhaps not found all that it was to find. */
export class DisturbedWalk extends Error {}

/** A walk cannot be marked; `cause` is what the system says. */
export class MarkerFailure extends Error {}

/** How often a marker is tried to be made: the directory of all is removed with the last one. */
const attempts = 10

/** Owner and group, as with all directories. */
const mode = 0o750

export async function makeMarker(marker: string): Promise<void> {
  try {
    for (let attempt = 1; ; attempt++) {
      if (await tryToMake(marker)) return
      if (attempt === attempts) throw new Error(`${dirname(marker)} is removed again and again`)
      // Below a file system that was unmounted there is no tmp, and none is made.
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
 * Removes the marker of a walk, by way of `directory`, where no process puts notes into it; never fails. What cannot be
 * removed stays for the next sweep, or the end of its owner.
 */
export async function removeMarker(marker: string, directory: string): Promise<void> {
  const grave = join(directory, `${basename(marker)}.walk`)
  try {
    await rename(marker, grave)
    await rm(grave, { recursive: true })
  } catch {
    return
  }
  await rmdir(dirname(marker)).catch(() => {})
}

/** Removes the markers of processes that have no directory in `tmp` any more, by way of `directory`. */
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
