import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageManager } from './package-manager.ts'

/** A package in the form in which a registry takes it. */
export interface Tarball {
  /** With its scope, as `@holdfast/core`. */
  readonly name: string
  readonly version: string
  /** Its absolute path. */
  readonly file: string
}

/**
 * Packs every package of the repository at `root` that is meant for others, from what `dist` has, into `folder`, which
 * need not exist. Versions stand in the place of `workspace:` and `catalog:`. The same input gives the same bytes.
 * Ordered by name.
 */
export async function packPackages(root: string, folder: string): Promise<readonly Tarball[]> {
  const filters = publishedPackages(root).map((name) => `--filter=${name}`)
  const args = ['-r', ...filters, 'pack', '--json', '--pack-destination', folder]
  const stdout = await packageManager(root, args)
  const packed = JSON.parse(stdout) as { name: string; version: string; filename: string }[]
  return packed
    .map(({ name, version, filename }) => ({ name, version, file: filename }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** The names of the packages of the repository at `root` that are not private. */
export function publishedPackages(root: string): readonly string[] {
  const manifests = globSync('packages/*/package.json', { cwd: root }).sort()
  return manifests.flatMap((path) => {
    const manifest = readFileSync(join(root, path), 'utf8')
    const { name, private: isPrivate } = JSON.parse(manifest) as { name: string; private?: true }
    return isPrivate === true ? [] : [name]
  })
}
