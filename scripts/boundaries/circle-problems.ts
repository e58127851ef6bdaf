import { posix } from 'node:path'
import { packagesInFloors, standingCircles } from './standing-circles.ts'
import { readPackages, type Package } from './read-packages.ts'

/** What is allowed to have circles, and which. */
export interface CircleRules {
  /** Circles that are not broken yet: the paths of their files below `packages`, in order. */
  readonly standing: readonly (readonly string[])[]
  /** The names of the packages whose folders, too, must import in one direction only. */
  readonly inFloors: readonly string[]
}

const list = 'scripts/boundaries/standing-circles.ts'
const defaultRules: CircleRules = { standing: standingCircles, inFloors: packagesInFloors }

/**
 * Reports circles of imports inside the packages of the repository at `root`: one sentence for each, none when all is well.
 * Imports of types count. A circle that `rules` list as standing is allowed; a listed one that does not exist is reported.
 */
export async function circleProblems(
  root: string,
  rules = defaultRules,
  reading = readPackages(root),
): Promise<string[]> {
  const packages = await reading
  const found = packages.flatMap(({ name, imports }) =>
    circlesOf(arrowsBetween(imports, (file) => `${name}/${file}`)).map((files) => files.join(', ')),
  )
  const standing = rules.standing.map((files) => files.join(', '))
  const fresh = found.filter((circle) => !standing.includes(circle))
  const gone = standing.filter((circle) => !found.includes(circle))
  return [
    ...fresh.map((circle) => `these files import each other in a circle: ${circle}`),
    ...gone.map((circle) => `${list} lists a circle that is gone, so remove it there: ${circle}`),
    ...packages.filter(({ name }) => rules.inFloors.includes(name)).flatMap(folderProblems),
  ]
}

function folderProblems({ name, imports }: Package): string[] {
  const circles = circlesOf(arrowsBetween(imports, (file) => posix.join(name, posix.dirname(file))))
  return circles.map((folders) => `these folders import each other: ${folders.join(', ')}`)
}

type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** The relative imports, from node to node; `nodeOf` gives the node of a file. */
function arrowsBetween(imports: Package['imports'], nodeOf: (file: string) => string): Arrows {
  const arrows = new Map<string, Set<string>>()
  for (const { file, specifier } of imports) {
    if (!specifier.startsWith('.')) continue
    const [from, to] = [nodeOf(file), nodeOf(posix.join(posix.dirname(file), specifier))]
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to))
  }
  return arrows
}

/** The sets of nodes that reach each other, each in order. */
function circlesOf(arrows: Arrows): string[][] {
  const reached = new Map([...arrows.keys()].map((node) => [node, reachedFrom(node, arrows)]))
  const circles = [...reached].map(([node, others]) =>
    [...others].filter((other) => reached.get(other)?.has(node)).sort(),
  )
  const byFirst = new Map(circles.flatMap((nodes) => (nodes[0] ? [[nodes[0], nodes]] : [])))
  return [...byFirst.values()]
}

/** All nodes that can be reached from `start`, which is among them only if a circle leads back to it. */
function reachedFrom(start: string, arrows: Arrows): Set<string> {
  const reached = new Set(arrows.get(start))
  // The iteration of a set includes what is added meanwhile.
  for (const node of reached) for (const next of arrows.get(node) ?? []) reached.add(next)
  return reached
}
