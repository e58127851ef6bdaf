import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory; whoever made it removes it. */
export async function openTemporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-customers-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
