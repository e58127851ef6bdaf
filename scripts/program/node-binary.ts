import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeBinary } from './make-executable.ts'

const run = promisify(execFile)

/**
 * The program of this Node.js' version for Linux on machines of this kind: this one, or else that of the npm package, which is
 * fetched once and kept below the user's cache.
 */
export async function nodeBinary(arch: string): Promise<NodeBinary> {
  if (process.platform === 'linux' && arch === process.arch) return { arch, file: process.execPath }
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const kept = join(caches, 'holdfast-node', `${process.versions.node}-linux-${arch}`)
  if (!existsSync(kept)) await fetchInto(kept, `node-linux-${arch}@${process.versions.node}`)
  return { arch, file: join(kept, 'package/bin/node') }
}

/** If another run was quicker, its copy stays. */
async function fetchInto(kept: string, name: string): Promise<void> {
  await mkdir(join(kept, '..'), { recursive: true })
  const folder = await mkdtemp(`${kept}-`)
  try {
    // npm compares what it gets with the registry's digest.
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, name], {
      cwd: folder,
      maxBuffer: 2 ** 26,
    })
    const [packed] = JSON.parse(stdout) as [{ filename: string }]
    await run('tar', ['-xzf', packed.filename, 'package/bin/node', 'package/LICENSE'], {
      cwd: folder,
    })
    await rm(join(folder, packed.filename))
    await rename(folder, kept)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(kept)) throw error
  }
}
