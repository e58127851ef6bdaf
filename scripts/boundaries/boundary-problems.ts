import { join, posix } from 'node:path'
import { allowedEdges, type AllowedEdges } from './allowed-edges.ts'
import { readPackages, readReferences, type Package } from './read-packages.ts'

const scope = '@holdfast/'

/**
 * Says where the repository at `root` departs from the architecture: one sentence a problem, none when all is well.
 * Looks at manifests, at the tsconfig.json references that must repeat them, and at what the sources import.
 */
export async function boundaryProblems(
  root: string,
  reading = readPackages(root),
): Promise<string[]> {
  const packages = await reading
  return [
    ...packages.flatMap(packageProblems),
    ...rootReferenceProblems(packages, await readReferences(join(root))),
  ]
}

function packageProblems(subject: Package): string[] {
  const allowed = allowedEdges[subject.name]
  if (allowed === undefined) {
    return [`${subject.name} has no line in scripts/boundaries/allowed-edges.ts`]
  }
  return [
    ...manifestProblems(subject, allowed),
    ...referenceProblems(subject),
    ...importProblems(subject),
    ...(subject.name === 'core' ? coreProblems(subject) : []),
  ]
}

function manifestProblems(subject: Package, allowed: AllowedEdges): string[] {
  const atRunTime = workspaceNames(subject.dependencies).filter(
    (name) => !allowed.dependencies.includes(name),
  )
  const inTests = workspaceNames(subject.devDependencies).filter(
    (name) => !allowed.dependencies.includes(name) && !allowed.devDependencies.includes(name),
  )
  return [
    ...atRunTime.map((name) => `${subject.name} may not depend on ${name}`),
    ...inTests.map((name) => `${subject.name} may not depend on ${name}, not even in tests`),
  ]
}

function referenceProblems({ name, dependencies, references }: Package): string[] {
  const needed = workspaceNames(dependencies)
  const missing = needed.filter((other) => !references.includes(other))
  const extra = references.filter((other) => !needed.includes(other))
  return [
    ...missing.map(
      (other) => `${name} depends on ${other}, but its tsconfig.json does not refer to it`,
    ),
    ...extra.map(
      (other) => `${name} refers to ${other} in its tsconfig.json, but does not depend on it`,
    ),
  ]
}

function importProblems({ name, dependencies, imports }: Package): string[] {
  return imports.flatMap(({ file, specifier }) => {
    if (specifier.startsWith('.')) {
      const target = posix.join(posix.dirname(file), specifier)
      return target.startsWith('src/')
        ? []
        : [`${name}/${file} imports ${specifier}, outside its src`]
    }
    const undeclared = specifier.startsWith(scope) && !dependencies.includes(packageOf(specifier))
    return undeclared
      ? [`${name}/${file} imports ${specifier}, which is not in its dependencies`]
      : []
  })
}

// Core runs wherever JavaScript runs, and brings nothing along.
function coreProblems({ dependencies, imports }: Package): string[] {
  const foreign = imports.filter(({ specifier }) => !specifier.startsWith('.'))
  return [
    ...dependencies.map((dependency) => `core has the dependency ${dependency}; it may have none`),
    ...foreign.map(
      ({ file, specifier }) => `core/${file} imports ${specifier}; core imports only itself`,
    ),
  ]
}

function rootReferenceProblems(packages: readonly Package[], references: string[]): string[] {
  return packages
    .filter(({ name, isBuilt }) => isBuilt && !references.includes(name))
    .map(({ name }) => `the root tsconfig.json does not refer to ${name}, so it is never built`)
}

function workspaceNames(dependencies: readonly string[]): string[] {
  return dependencies
    .filter((dependency) => dependency.startsWith(scope))
    .map((dependency) => dependency.slice(scope.length))
}

function packageOf(specifier: string): string {
  return specifier.split('/', 2).join('/')
}
