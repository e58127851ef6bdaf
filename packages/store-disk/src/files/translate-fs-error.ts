import { FileServiceError, type ErrorCode } from '@holdfast/core'
import { isSystemError } from './system-error.ts'

interface Meaning {
  readonly systemCodes: readonly string[]
  readonly code: ErrorCode
  readonly message: string
}

/** Failures of which it is certain what they mean for the whole store. */
const meanings: readonly Meaning[] = [
  {
    systemCodes: ['ENOSPC', 'EDQUOT'],
    code: 'insufficient-storage',
    message: 'The disk has no room for the file',
  },
  {
    systemCodes: ['EFBIG'],
    code: 'file-too-large',
    message: 'The file system takes no file of that size',
  },
  {
    systemCodes: ['EROFS'],
    code: 'store-unavailable',
    message: 'The file system is mounted read-only',
  },
  {
    systemCodes: ['EMFILE', 'ENFILE', 'ENOMEM'],
    code: 'store-unavailable',
    message: 'The system has no open file or memory left',
  },
  {
    // What network file systems and those of other processes (FUSE) say when the other end is gone.
    systemCodes: [
      ...['ESTALE', 'ENODEV', 'ENOTCONN', 'ECONNABORTED', 'ETIMEDOUT'],
      ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
    ],
    code: 'store-unavailable',
    message: 'The file system cannot be reached',
  },
]

/**
 * Waits for `work` of the file system. Where it failed because there is no room (device full, disk quota used up),
 * rejects with `insufficient-storage`; with `file-too-large` where no such file can be kept; with `store-unavailable`
 * where the whole store is out of use and the same request may succeed later: read-only, out of reach, no open file
 * left. Everything else, such as a damaged disk or missing permission, comes through as it is.
 */
export async function translateFsError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const meaning = meanings.find(({ systemCodes }) => isSystemError(cause, ...systemCodes))
    if (meaning === undefined) throw cause
    throw new FileServiceError(meaning.code, meaning.message, { cause })
  }
}
