import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { installInto } from '../../release/test/install-tarballs.ts'

const source = join(import.meta.dirname, '../../../examples')
let installed: Promise<string> | undefined

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/**
 * A folder outside of the workspace with a copy of every example, and all that their manifests ask for: our packages
 * from tarballs, the others from npm. Made once for all tests of this process and removed with it.
 */
export function installedExamples(): Promise<string> {
  installed ??= install()
  return installed
}

async function install(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-examples-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const wanted: Record<string, string> = {}
  for (const { dependencies, devDependencies } of manifests()) {
    Object.assign(wanted, dependencies, devDependencies)
  }
  const isOurs = ([name]: readonly [string, string]) => name.startsWith('@holdfast/')
  const entries = Object.entries(wanted)
  const names = entries.filter(isOurs).map(([name]) => name)
  const others = Object.fromEntries(entries.filter((entry) => !isOurs(entry)))
  await installInto(folder, names, { others })
  // One level below what is installed, where Node looks for it.
  cpSync(source, join(folder, 'examples'), { recursive: true })
  return join(folder, 'examples')
}

/** Each example's `package.json`. */
function manifests(): readonly Manifest[] {
  return globSync('*/package.json', { cwd: source }).map(
    (path) => JSON.parse(readFileSync(join(source, path), 'utf8')) as Manifest,
  )
}

/** The names of all examples. */
export function exampleNames(): readonly string[] {
  return globSync('*/package.json', { cwd: source }).map(dirname).sort()
}
