import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'

type Ranges = Readonly<Record<string, string>>

interface Manifest {
  readonly dependencies?: Ranges
  readonly optionalDependencies?: Ranges
  readonly peerDependencies?: Ranges
}

/**
 * Makes the folder of modules `to` with hard links (on another disk: copies) to the packages `names` of the folder of modules `from`, and to all that their manifests
 * say they need, as npm would have installed them alone. What else is in `from` cannot be imported there.
 */
export function linkPackages(from: string, to: string, names: readonly string[]): void {
  const places = new Set<string>()
  const visit = (place: string) => {
    if (places.has(place)) return
    places.add(place)
    const text = readFileSync(join(place, 'package.json'), 'utf8')
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(text) as Manifest
    const needs = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    for (const need of needs) {
      const found = findAbove(from, place, need)
      // Optional packages may be for other systems.
      if (found !== undefined) visit(found)
    }
  }
  for (const name of names) visit(join(from, name))
  for (const place of places) linkFolder(place, join(to, relative(from, place)))
}

/** Where Node.js finds `name` when a module in `place` imports it. */
function findAbove(from: string, place: string, name: string): string | undefined {
  for (let folder = place; folder.startsWith(from); folder = dirname(folder)) {
    const modules = folder.endsWith('node_modules') ? folder : join(folder, 'node_modules')
    if (existsSync(join(modules, name, 'package.json'))) return join(modules, name)
  }
  return undefined
}

/** Without the packages within, each of which is linked where it is needed. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.name === 'node_modules') continue
    if (entry.isDirectory()) linkFolder(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else linkFile(source, target)
  }
}

function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    // Temporary files of tests may lie on another disk.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    copyFileSync(from, to)
  }
}
