/** What can be covered: lines, branches, functions. */
const kinds = ['lines', 'branches', 'functions'] as const

type Kind = (typeof kinds)[number]

/** Percentages with one decimal, rounded down: what is not wholly covered is never 100. */
export type Coverage = Readonly<Record<Kind, number>>

/** The form of c8's `json-summary`, by the absolute path of a file. */
export type Summary = Readonly<
  Record<string, Readonly<Record<Kind, { readonly total: number; readonly covered: number }>>>
>

/** The coverage of each package in `root`, from that of its sources. */
export function packageCoverage(root: string, summary: Summary): Record<string, Coverage> {
  const files = Object.entries(summary).filter(([path]) => path.startsWith(`${root}/packages/`))
  const byPackage = Object.groupBy(files, ([path]) => path.slice(root.length).split('/')[2] ?? '')
  return Object.fromEntries(
    Object.entries(byPackage).map(([name, ofPackage = []]) => {
      const percent = (kind: Kind) => percentOf(ofPackage.map(([, file]) => file[kind]))
      const coverage = kinds.map((kind) => [kind, percent(kind)] as const)
      return [name, Object.fromEntries(coverage) as Coverage]
    }),
  )
}

function percentOf(counts: readonly { total: number; covered: number }[]): number {
  const total = counts.reduce((sum, count) => sum + count.total, 0)
  const covered = counts.reduce((sum, count) => sum + count.covered, 0)
  return total === 0 ? 100 : Math.floor((1000 * covered) / total) / 10
}

/**
 * How far the coverage of one and the same commit differs between runs, in percentage points: a branch that only a race takes, a package
 * of which two files more or less are half a percent.
 */
export const tolerance = 0.5

/** What is below its floor by more than the tolerance, a sentence each; also a package that is missing on either side. */
export function coverageProblems(
  floors: Readonly<Record<string, Coverage>>,
  found: Readonly<Record<string, Coverage>>,
): string[] {
  const names = [...new Set([...Object.keys(floors), ...Object.keys(found)])]
  return names.flatMap((name) => {
    const [floor, coverage] = [floors[name], found[name]]
    if (!floor) return [`${name} has no floor in scripts/test-coverage/floors.json`]
    if (!coverage) return [`${name} has a floor, and no test has run any of its sources`]
    return kinds
      .filter((kind) => coverage[kind] < floor[kind] - tolerance)
      .map((kind) => `${name}: ${coverage[kind]} % of its ${kind}, and ${floor[kind]} is the floor`)
  })
}
