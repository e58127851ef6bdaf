import { rename, stat, type FileHandle } from 'node:fs/promises'
import { syncStep } from './partial-files.ts'

/**
 * Writes `body` into `file` from `start` on, and syncs it as it grows; resolves with the end of it. Never holds more than a chunk.
 */
export async function writeFrom(
  file: FileHandle,
  start: number,
  body: AsyncIterable<Uint8Array>,
  onProgress: (end: number) => void,
): Promise<number> {
  let position = start
  let synced: Promise<void> = Promise.resolve()
  for await (const chunk of body) {
    for (let taken = 0; taken < chunk.length;) {
      const toBorder = syncStep - (position % syncStep)
      const part = chunk.subarray(taken, taken + toBorder)
      const { bytesWritten } = await file.write(part, 0, part.length, position)
      taken += bytesWritten
      position += bytesWritten
      if (position % syncStep > 0) continue
      await synced
      synced = file.datasync()
      // It is awaited at the next border, or below.
      synced.catch(() => {})
    }
    onProgress(position)
  }
  await synced
  return position
}

/** Puts the open `file` at `from` in its place at `path`. */
export async function putInPlace(file: FileHandle, from: string, path: string): Promise<void> {
  // Another command for the same file was quicker, and what is at `from` is the beginning of a third one's.
  if (!(await isAt(file, from)) && (await isAt(file, path))) return
  try {
    await rename(from, path)
  } catch (error) {
    if (!(await isAt(file, path))) throw error
  }
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
  const [own, found] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  return own.ino === found?.ino && own.dev === found.dev
}
