/** Whether `error` is a failed system call with one of `codes`, such as `ENOENT`. */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  )
}

/**
 * The system's codes for "there is nothing of that name": the entry is missing, or what should be a directory on the
 * way to it is none. Nothing else counts as absence; "permission denied" least of all.
 */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, 'ENOENT', 'ENOTDIR')
}
