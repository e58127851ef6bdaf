/** Whether standard output failed because its reader has stopped, as `head` does: no error for the user. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
