import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The lines of Node.js that the packages are for. By exact version, so that nothing has to be asked each time. */
export const nodeVersions = { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' } as const

export type NodeLine = keyof typeof nodeVersions

export const nodeLines = [22, 24, 26] as const satisfies readonly NodeLine[]

/**
 * The path of a Node.js of this line: ours, if it is of it, or else the npm package of that version, which the first run
 * fetches and keeps below the user's cache.
 */
export async function nodeProgram(line: NodeLine): Promise<string> {
  if (Number.parseInt(process.versions.node) === line) return process.execPath
  const version = nodeVersions[line]
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const kept = join(caches, 'holdfast-node', version)
  if (!existsSync(kept)) await fetchInto(kept, version)
  return join(kept, 'node_modules', nameOf(), 'bin/node')
}

/** Whoever comes second finds the first one's, so that several runs at once are no trouble. */
async function fetchInto(kept: string, version: string): Promise<void> {
  await mkdir(join(kept, '..'), { recursive: true })
  const folder = await mkdtemp(`${kept}-`)
  try {
    const args = [
      'install',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      `${nameOf()}@${version}`,
    ]
    await promisify(execFile)('npm', args, { cwd: folder })
    await rename(folder, kept)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(kept)) throw error
  }
}

/** The package with nothing but the program; the one called `node` fetches it from within a script. */
function nameOf(): string {
  return `node-${process.platform}-${process.arch}`
}
