import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder into which `scripts/test` puts the servers, beside the user's caches.
 *
 * @throws Error that says how to get them
 */
export function findPrograms(): string {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const folder = join(caches, 'holdfast/s3-servers')
  if (existsSync(folder)) return folder
  throw new Error(`There is no ${folder}: scripts/test makes it, with --all.`)
}
