/** A file that has been changed, moved or forbidden since it was chosen. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'
}

/** @throws UnreadableFileError if the browser can no longer read `file`. */
export async function assertReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch (cause) {
    throw new UnreadableFileError(file.name, { cause })
  }
}
