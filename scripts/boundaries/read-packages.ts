import { existsSync, globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import ts from 'typescript'

/** One package as its manifest, its tsconfig.json and its sources describe it. */
export interface Package {
  /** Its folder under packages, and the name after `@holdfast/`. */
  name: string
  /** What the manifest says that it is; empty where it does not say. */
  description: string
  /** Whether it is for this repository only. */
  isPrivate: boolean
  /** Everything that comes along at run time: dependencies, peerDependencies and optionalDependencies. */
  dependencies: string[]
  devDependencies: string[]
  /** Whether it has sources to build. The tests of the whole product have none. */
  isBuilt: boolean
  /** The folders that its tsconfig.json refers to. */
  references: string[]
  /** What its `src` imports. */
  imports: Import[]
  /** What its `test` imports. */
  testImports: Import[]
}

/** An import as it is written, with the file (relative to the package). */
export interface Import {
  file: string
  specifier: string
}

interface Manifest {
  description?: string
  private?: boolean
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** Reads every package of the repository at `root`, ordered by name. */
export async function readPackages(root: string): Promise<Package[]> {
  const entries = await readdir(join(root, 'packages'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  // Of a package that is gone, what was built and installed may still be there.
  const names = folders.filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
  return Promise.all(names.sort().map((name) => readPackage(join(root, 'packages', name))))
}

/** Reads the folders that the tsconfig.json in `folder` refers to, each by its last segment. */
export async function readReferences(folder: string): Promise<string[]> {
  const config = (await readJson(join(folder, 'tsconfig.json'))) as {
    references?: { path: string }[]
  }
  return (config.references ?? []).map((reference) => basename(reference.path))
}

async function readPackage(folder: string): Promise<Package> {
  const manifest = (await readJson(join(folder, 'package.json'))) as Manifest
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest
  const isBuilt = existsSync(join(folder, 'src'))
  return {
    name: basename(folder),
    description: manifest.description ?? '',
    isPrivate: manifest.private ?? false,
    isBuilt,
    dependencies: Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }),
    devDependencies: Object.keys(devDependencies ?? {}),
    references: isBuilt ? await readReferences(folder) : [],
    imports: await readImports(folder, 'src'),
    testImports: await readImports(folder, 'test'),
  }
}

async function readImports(folder: string, part: string): Promise<Import[]> {
  const sources = globSync(`${part}/**/*.{ts,tsx}`, { cwd: folder })
  const imports = sources.sort().map(async (file) => {
    const { importedFiles } = ts.preProcessFile(await readFile(join(folder, file), 'utf8'))
    return importedFiles.map(({ fileName }) => ({ file, specifier: fileName }))
  })
  return (await Promise.all(imports)).flat()
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'))
}
