import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder that `install` has filled, in a place of its own beside the user's caches; it does so once for each content
 * of `inputs`.
 */
export async function cachedInstallation(
  name: string,
  inputs: readonly (string | Buffer)[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(input)
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(caches, `holdfast-${name}`, hash.digest('hex').slice(0, 16))
  // Written last: what was interrupted is done again.
  const stamp = join(folder, 'complete')
  if (!existsSync(stamp)) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await install(folder)
    await writeFile(stamp, '')
  }
  return folder
}
