import { join } from 'node:path'
import { versionOf, type FileVersion } from './local-file.ts'
import type { FoundEntry } from './walk-directory.ts'

/** An entry of a directory, and what its file is like now. */
export interface FoundFile extends FoundEntry {
  /** Left out for what is no file any more. */
  readonly now?: FileVersion
  /** Why that cannot be found out. */
  readonly error?: unknown
}

const atOnce = 64

/** Looks at the files, several at a time, in their order. */
export async function* foundFiles(
  directory: string,
  entries: AsyncIterable<FoundEntry>,
): AsyncGenerator<FoundFile, void> {
  let waiting: Promise<FoundFile>[] = []
  for await (const entry of entries) {
    waiting.push(lookAt(directory, entry))
    if (waiting.length < atOnce) continue
    yield* await Promise.all(waiting)
    waiting = []
  }
  yield* await Promise.all(waiting)
}

async function lookAt(directory: string, entry: FoundEntry): Promise<FoundFile> {
  if (entry.kind !== 'file') return entry
  try {
    const now = await versionOf(join(directory, entry.path))
    return now ? { ...entry, now } : entry
  } catch (error) {
    return { ...entry, error }
  }
}
