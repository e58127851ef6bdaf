import { constants } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { standardStreams } from './appendable.ts'

/**
 * Rejects as `openAppendable` would for `path`, but makes and changes nothing. Whether a pipe has a reader is not seen.
 */
export async function checkAppendable(path: string): Promise<void> {
  if (standardStreams[path] !== undefined) return
  const { W_OK, X_OK, O_WRONLY, O_APPEND, O_NONBLOCK } = constants
  const there = await stat(path).catch(() => undefined)
  if (there === undefined) return access(dirname(path), W_OK | X_OK)
  // To its reader, opening and closing a pipe would be the end of it.
  if (there.isFIFO()) return access(path, W_OK)
  const handle = await open(path, O_WRONLY | O_APPEND | O_NONBLOCK)
  await handle.close()
}
