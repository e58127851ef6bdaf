import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackages, type Tarball } from '../pack-packages.ts'

const root = join(import.meta.dirname, '../../..')
let packed: Promise<readonly Tarball[]> | undefined

/**
 * The tarballs of this checkout's packages: those that `scripts/test` packs for all its tests, or else packed once for all tests of
 * this process and removed with it.
 */
export function packedPackages(): Promise<readonly Tarball[]> {
  packed ??= pack()
  return packed
}

/** The tarball of the package of this name, as `@holdfast/core`. */
export async function packedPackage(name: string): Promise<Tarball> {
  const tarball = (await packedPackages()).find((candidate) => candidate.name === name)
  if (tarball === undefined) throw new Error(`There is no package ${name}`)
  return tarball
}

async function pack(): Promise<readonly Tarball[]> {
  const shared = process.env['HOLDFAST_TEST_TARBALLS']
  if (shared !== undefined) return JSON.parse(await readFile(shared, 'utf8')) as readonly Tarball[]
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return packPackages(root, folder)
}
