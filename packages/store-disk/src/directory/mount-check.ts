import { stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { FileServiceError } from '@holdfast/core'
import { isAbsence } from '../files/system-error.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import { readLayoutFile, type LayoutFile } from './layout-file.ts'

/**
 * Resolves if a data directory is there and still the one that was opened. Whatever is missing is really missing only
 * then: below a file system that was unmounted there is an empty directory, or an old one.
 *
 * @throws FileServiceError `store-unavailable` if it is gone, or another store has its place
 */
export type MountCheck = () => Promise<void>

/** Checks the directory `data`, which said `opened` of itself when it was opened, and keeps its blobs in `files`. */
export function createMountCheck(data: string, files: string, opened: LayoutFile): MountCheck {
  const layoutFilePath = join(data, 'holdfast.json')
  let known: string | undefined

  const compare = async (): Promise<void> => {
    const [signature] = await Promise.all([signatureOf(layoutFilePath), stat(join(files, sep))])
    // As a rule one look is enough. A remounted or restored directory may have other inodes.
    if (signature === known) return
    const layoutFile = await readLayoutFile(layoutFilePath)
    if (layoutFile?.id !== opened.id || layoutFile?.names !== opened.names) throw replaced(data)
    known = signature
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

function replaced(data: string): FileServiceError {
  const message = `The directory ${data} is another one than was opened. Put that back, or restart to use this one`
  return new FileServiceError('store-unavailable', message)
}
