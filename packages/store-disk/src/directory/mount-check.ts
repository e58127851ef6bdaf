import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { FileServiceError } from '@holdfast/core'
import { findMount } from '../files/file-system.ts'
import { isAbsence, isSystemError, translateFsError } from '../files/translate-fs-error.ts'
import { readLayoutFile, type LayoutFile } from './layout-file.ts'

/**
 * Resolves if the data directory exists and is still the one that was opened. Only then a missing file is really missing: the mount point
 * of an unmounted file system is an empty directory, or an older one, and Btrfs shows directories without their newest entries once its
 * disk has failed.
 *
 * @throws FileServiceError `store-unavailable` if it is gone, another store is in its place, or the kernel has made it read-only
 */
export type MountCheck = () => Promise<void>

/** Checks the data directory `data`, whose layout file was `opened`, and its directory `files`. */
export function createMountCheck(data: string, files: string, opened: LayoutFile): MountCheck {
  const layoutFilePath = join(data, 'holdfast.json')
  let checked: string | undefined

  const compare = async (): Promise<void> => {
    const [signature] = await Promise.all([
      signatureOf(layoutFilePath),
      checkDirectory(join(files, sep)),
    ])
    // Reads the layout file only if its stats have changed: a remounted or restored directory may have other inodes.
    if (signature === checked) return
    const layoutFile = await readLayoutFile(layoutFilePath)
    if (layoutFile?.id !== opened.id || layoutFile?.names !== opened.names) throw replaced(data)
    checked = signature
  }

  return async () => {
    try {
      await translateFsError(compare())
    } catch (cause) {
      if (!isAbsence(cause)) throw cause
      const message = `The directory ${data} has lost holdfast.json or files: is its file system mounted?`
      throw new FileServiceError('store-unavailable', message, { cause })
    }
  }
}

async function signatureOf(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return [ino, size, mtimeNs].join('-')
}

/** Rejects if there is no directory at `path`, or the kernel has made its file system read-only: it may then hide entries. */
async function checkDirectory(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    const isReadOnly = isSystemError(error, 'EROFS')
    if (isReadOnly && (await findMount(await realpath(path)))?.isForcedReadOnly) throw error
    // An administrator may have made it read-only on purpose: downloads go on.
    await stat(path)
  }
}

function replaced(data: string): FileServiceError {
  const message = `The directory ${data} is not the one that was opened. Put that one back, or restart to use this one`
  return new FileServiceError('store-unavailable', message)
}
