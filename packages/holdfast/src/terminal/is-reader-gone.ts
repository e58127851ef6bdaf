/** Whether standard output failed since nobody reads it any more: who stops, as `head` does, has what they want. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
