import { allowedEdges, type AllowedEdges } from './allowed-edges.ts'
import { readPackages, readReferences, type Package } from './read-packages.ts'

const scope = '@holdfast/'

/**
 * Says where the manifests of the repository at `root`, and the tsconfig.json references that must repeat them, depart from
 * the architecture: one sentence a problem, none when all is well. What files import is examined by .dependency-cruiser.mjs.
 */
export async function manifestProblems(
  root: string,
  reading = readPackages(root),
): Promise<string[]> {
  const packages = await reading
  return [
    ...packages.flatMap(packageProblems),
    ...rootReferenceProblems(packages, await readReferences(root)),
  ]
}

function packageProblems(subject: Package): string[] {
  const allowed = allowedEdges[subject.name]
  if (allowed === undefined) {
    return [`${subject.name} has no line in scripts/boundaries/allowed-edges.ts`]
  }
  return [...dependencyProblems(subject, allowed), ...referenceProblems(subject)]
}

function dependencyProblems(subject: Package, allowed: AllowedEdges): string[] {
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
