import { open } from 'node:fs/promises'

/** Resolves when the changes to a directory that were made before the call survive a power cut. */
export type DirectorySync = () => Promise<void>

/**
 * Syncs `directory`. Calls that come while it is being synced share the next sync.
 *
 * Where one has failed, all later ones do: the system reports once that it has dropped changes, those of others included.
 */
export function createDirectorySync(
  directory: string,
  sync: (path: string) => Promise<void> = syncNow,
): DirectorySync {
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= last = last.then(() => {
      next = undefined
      return sync(directory)
    })
    return next
  }
}

async function syncNow(path: string): Promise<void> {
  // Windows syncs no directories.
  if (process.platform === 'win32') return
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
