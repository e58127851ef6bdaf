import { FileServiceError, type ErrorCode } from '@holdfast/core'

interface Meaning {
  readonly systemCodes: readonly string[]
  readonly code: ErrorCode
  readonly message: string
}

/** System errors that mean the same for the whole store wherever they occur. */
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
    // Network file systems and FUSE give these when the server or the process is gone.
    systemCodes: [
      ...['ESTALE', 'ENODEV', 'ENOTCONN', 'ECONNABORTED', 'ETIMEDOUT'],
      ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
    ],
    code: 'store-unavailable',
    message: 'The file system cannot be reached',
  },
]

/**
 * Settles as `work` does, but translates errors of the file system into errors of the service: `insufficient-storage` for a full disk or
 * disk quota, `file-too-large` for a file beyond the file system's maximum, and `store-unavailable` where the whole store is out of use
 * and a retry may succeed: read-only, unreachable, no open file left. Other errors, such as a damaged disk or a missing permission, stay
 * as they are.
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

/** Whether `error` is a failed system call with one of `codes`, such as `ENOENT`. */
export function isSystemError(error: unknown, ...codes: readonly string[]): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  )
}

/**
 * Whether the system reports that nothing has the name: the entry is missing, or a parent on its path is no directory. No other error
 * counts as absence; "permission denied" least of all.
 */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, 'ENOENT', 'ENOTDIR')
}
