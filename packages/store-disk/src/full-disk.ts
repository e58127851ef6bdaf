import { FileServiceError } from '@holdfast/core'
import { isSystemError } from './system-error.ts'

/**
 * Waits for `work` of the file system; where it failed for want of room (device full, disk quota used up, more than the
 * file system takes as one file), rejects with `insufficient-storage` instead.
 */
export async function noticingFullDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!isSystemError(cause, 'ENOSPC', 'EDQUOT', 'EFBIG')) throw cause
    throw new FileServiceError('insufficient-storage', 'The disk has no room for the file', {
      cause,
    })
  }
}
