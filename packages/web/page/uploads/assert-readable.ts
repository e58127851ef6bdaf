/** A file that has been changed, moved or forbidden since it was chosen. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'
}

/** @throws UnreadableFileError if the browser can no longer read `file`, or finds that it has changed since it was chosen. */
export async function assertReadable(file: File): Promise<void> {
  await read(file, file.slice(0, 1))
}

/**
 * The content of a file that is small enough for the memory. A file that the browser may not read has no size, and only a reading of all of
 * it fails.
 *
 * @throws UnreadableFileError if it cannot be read, or has changed since it was chosen or while it was read
 */
export async function readWhole(file: File): Promise<Blob> {
  const content = await read(file, file)
  await assertReadable(file)
  if (content.byteLength !== file.size) throw new UnreadableFileError(file.name)
  return new Blob([content], { type: file.type })
}

async function read(file: File, part: Blob): Promise<ArrayBuffer> {
  try {
    return await part.arrayBuffer()
  } catch (cause) {
    throw new UnreadableFileError(file.name, { cause })
  }
}
