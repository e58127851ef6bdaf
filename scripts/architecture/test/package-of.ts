import type { Package } from '../../boundaries/read-packages.ts'

/** A published package that depends on others, by their short names. */
export function packageOf(name: string, dependencies: readonly string[]): Package {
  return {
    name,
    description: `What ${name} <is>.`,
    isPrivate: false,
    isBuilt: true,
    dependencies: dependencies.map((other) => `@holdfast/${other}`),
    devDependencies: [],
    references: [],
    imports: [],
    testImports: [],
  }
}
