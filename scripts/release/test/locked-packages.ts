import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'

interface Lockfile {
  importers: Record<string, { dependencies?: Record<string, { version: string }> }>
  snapshots: Record<string, Needs>
}

interface Needs {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/**
 * What the lockfile of the repository at `root` says that the package in `folder` brings along at run time: each as
 * `name@version`, packages of the workspace by their folder, as `packages/core`.
 */
export async function lockedPackages(root: string, folder: string): Promise<Set<string>> {
  const { importers, snapshots } = parse(
    await readFile(join(root, 'pnpm-lock.yaml'), 'utf8'),
  ) as Lockfile
  const found = new Set<string>()
  const visitImporter = (path: string) => {
    for (const [name, { version }] of Object.entries(importers[path]?.dependencies ?? {})) {
      visit(name, version)
    }
  }
  const visit = (name: string, version: string) => {
    const neighbour = version.startsWith('link:')
    const id = neighbour ? `packages/${version.replace('link:../', '')}` : `${name}@${version}`
    if (found.has(id)) return
    found.add(id)
    if (neighbour) return visitImporter(id)
    const { dependencies, optionalDependencies } = snapshots[id] ?? {}
    for (const need of Object.entries({ ...dependencies, ...optionalDependencies })) visit(...need)
  }
  visitImporter(folder)
  // Behind a version stands in brackets which peers it has been given.
  return new Set([...found].map((id) => id.replace(/\(.*$/, '')))
}
