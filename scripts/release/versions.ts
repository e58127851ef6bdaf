import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The version in each manifest of the repository at `root`, by the manifest's path from there. */
export async function versionsOf(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = manifestsOf(root).map(async (path) => {
    const { version } = JSON.parse(await readFile(join(root, path), 'utf8')) as { version: string }
    return [path, version] as const
  })
  return new Map(await Promise.all(entries))
}

/** Writes `version` into each manifest of the repository at `root`; nothing else in them changes. */
export async function setVersion(root: string, version: string): Promise<void> {
  for (const path of manifestsOf(root)) {
    const text = await readFile(join(root, path), 'utf8')
    await writeFile(join(root, path), text.replace(/^( {2}"version": ").*(",)$/m, `$1${version}$2`))
  }
}

function manifestsOf(root: string): readonly string[] {
  return ['package.json', ...globSync('packages/*/package.json', { cwd: root }).sort()]
}
