import type { Package } from '../boundaries/read-packages.ts'

/** Where a package stands in the picture: above everything that it imports, as wide as what only it and others above use. */
export interface Place {
  readonly name: string
  readonly description: string
  /** 0 for a package that imports no other; otherwise one more than the highest that it imports. */
  readonly row: number
  /** Its first and its last column, counted from 0. */
  readonly columns: readonly [first: number, last: number]
  /** The packages that it imports, without those that one of them imports, too. */
  readonly imports: readonly string[]
  /** Whether no published package imports it, although others import the same as it does. */
  readonly isForTests: boolean
}

const scope = '@holdfast/'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Places the published ones of `packages`, by the dependencies in their manifests. Private packages are for tests only. */
export function placePackages(packages: readonly Package[]): readonly Place[] {
  const published = packages.filter(({ isPrivate }) => !isPrivate)
  const names = new Set(published.map(({ name }) => name))
  const direct: Graph = new Map(
    published.map(({ name, dependencies }) => [name, new Set(ours(dependencies, names))]),
  )
  const all: Graph = new Map([...names].map((name) => [name, reachedFrom(name, direct)]))
  const columns = columnsOf(direct, all)
  return published.map(({ name, description }) => ({
    name,
    description,
    row: rowOf(name, direct),
    columns: spanOf(name, columns, all),
    imports: reduced(name, direct, all),
    isForTests: importersOf(name, all).length === 0 && rowOf(name, direct) === 1,
  }))
}

function ours(dependencies: readonly string[], names: ReadonlySet<string>): string[] {
  return dependencies
    .map((name) => (name.startsWith(scope) ? name.slice(scope.length) : name))
    .filter((name) => names.has(name))
}

function reachedFrom(start: string, graph: Graph): Set<string> {
  const reached = new Set(graph.get(start))
  // The iteration of a set includes what is added meanwhile.
  for (const name of reached) for (const next of graph.get(name) ?? []) reached.add(next)
  return reached
}

function rowOf(name: string, direct: Graph): number {
  return Math.max(-1, ...[...(direct.get(name) ?? [])].map((other) => rowOf(other, direct))) + 1
}

function importersOf(name: string, all: Graph): string[] {
  return [...all].flatMap(([importer, reached]) => (reached.has(name) ? [importer] : []))
}

function reduced(name: string, direct: Graph, all: Graph): string[] {
  const own = [...(direct.get(name) ?? [])]
  return own.filter((one) => !own.some((other) => all.get(other)?.has(one)))
}

/** The packages of row 1, one a column. The more packages stand above one, the further right it is, so that these are neighbours. */
function columnsOf(direct: Graph, all: Graph): readonly string[] {
  const above = (name: string) => importersOf(name, all).length
  return [...direct.keys()]
    .filter((name) => rowOf(name, direct) === 1)
    .sort((one, other) => above(one) - above(other) || one.localeCompare(other))
}

/** What is below the columns is as wide as all that stand on it; what is above, as all that it stands on. */
function spanOf(name: string, columns: readonly string[], all: Graph): [number, number] {
  const isBeside = (column: string) =>
    column === name || all.get(name)?.has(column) === true || all.get(column)?.has(name) === true
  const own = [...columns.keys()].filter((at) => isBeside(columns[at] ?? ''))
  return own.length === 0 ? [0, 0] : [Math.min(...own), Math.max(...own)]
}
