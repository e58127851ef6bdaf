import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Writes `files` (path to text) into a directory of their own, runs `use` on it, and removes it. */
export async function withRepository<Result>(
  files: Record<string, string>,
  use: (root: string) => Promise<Result>,
): Promise<Result> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-repository-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return await use(root)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** A package for `withRepository`: its manifest, its tsconfig.json and one source. */
export function packageFiles(
  name: string,
  { dependencies = [], devDependencies = [], references = dependencies, source = '' }: PackageDraft,
): Record<string, string> {
  const folder = `packages/${name}`
  return {
    [`${folder}/package.json`]: JSON.stringify({
      name: `@holdfast/${name}`,
      dependencies: versions(dependencies),
      devDependencies: versions(devDependencies),
    }),
    [`${folder}/tsconfig.json`]: JSON.stringify({
      references: references.map((reference) => ({ path: `../${reference}` })),
    }),
    [`${folder}/src/index.ts`]: source,
  }
}

/** What a package is to depend on, by short names such as `core`, or `npm:ajv` for a library. */
export interface PackageDraft {
  dependencies?: string[]
  devDependencies?: string[]
  references?: string[]
  source?: string
}

/** A root tsconfig.json for `withRepository` that refers to `names`. */
export function rootReferences(...names: string[]): Record<string, string> {
  const references = names.map((name) => ({ path: `packages/${name}` }))
  return { 'tsconfig.json': JSON.stringify({ references }) }
}

function versions(names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name.startsWith('npm:') ? name.slice(4) : `@holdfast/${name}`, '*']),
  )
}
