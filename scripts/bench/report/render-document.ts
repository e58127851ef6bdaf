import type { Scenario } from '../scenarios/scenario.ts'
import { isReached, valueOf, type Aim } from './aim.ts'
import { aims } from './aims.ts'
import { markdownTable } from './markdown-table.ts'
import { ratioOf, tableOf, written } from './print-rows.ts'
import type { ScenarioResult } from './results.ts'

/** What is written about a scenario that may not have been measured. */
export type Described = Pick<Scenario, 'name' | 'title' | 'how' | 'compared'>

/** Markdown about all results: the aims, the plot, and how they came about. */
export function renderResults(
  scenarios: readonly Described[],
  results: readonly ScenarioResult[],
): string {
  const parts = [
    aimsOf(scenarios, results),
    plot,
    besideBefore(scenarios, results),
    origin(results),
  ]
  return parts.filter((part) => part !== '').join('\n\n') + '\n'
}

/** Markdown with a table for each scenario that was measured. */
export function renderFigures(
  scenarios: readonly Described[],
  results: readonly ScenarioResult[],
): string {
  const sections = results.flatMap((result) => {
    const scenario = scenarios.find(({ name }) => name === result.scenario)
    return scenario ? [sectionOf(scenario, result)] : []
  })
  return sections.join('\n\n') + '\n'
}

function origin(results: readonly ScenarioResult[]): string {
  const all = (name: 'machine' | 'node' | 'generator' | 'command') =>
    distinct(results.map((result) => result[name])).join('; ')
  const versions = distinct(
    results.flatMap((result) =>
      Object.entries(result.versions).map(([name, version]) => `${name} (${version})`),
    ),
  )
  return `## How this was measured

- **Command**: ${distinct(results.map(({ command }) => `\`${command}\``)).join(', ')}
- **Machine**: ${all('machine')}
- **Node.js**: ${all('node')}, for holdfast and for the applications on fastify, express and @tus/server
- **Servers and clients**: ${versions.join('; ')}
- **Small requests** were sent by ${all('generator')}; large files by a client on \`node:net\` that reads into one buffer, or
  sends one mebibyte over and over
- **Missing**: ${missing(results)}`
}

function missing(results: readonly ScenarioResult[]): string {
  const all = results.flatMap((result) =>
    Object.entries(result.missing).map(([name, reason]) => `${name}: ${reason}`),
  )
  return all.length === 0 ? 'nothing' : distinct(all).join('; ')
}

const plot = `## Ratios

![How much faster holdfast is than each of the others at the same work](benchmarks/ratios.svg)`

function aimsOf(scenarios: readonly Described[], results: readonly ScenarioResult[]): string {
  const rows = aims.map((aim) => {
    const rows = results.find(({ scenario }) => scenario === aim.scenario)?.rows ?? []
    const { median, quartiles } = valueOf(aim, rows)
    const title = scenarios.find(({ name }) => name === aim.scenario)?.title ?? aim.scenario
    return [
      title,
      aim.what,
      boundOf(aim),
      withUnit(median, aim.unit),
      spread(quartiles),
      verdict(isReached(aim, median)),
    ]
  })
  return `## Aims\n\n${markdownTable([['work', 'what', 'aim', 'measured', 'spread', 'reached'], ...rows], 6)}`
}

/** How holdfast does beside the checkout that `--against` names, where there was one. */
function besideBefore(scenarios: readonly Described[], results: readonly ScenarioResult[]): string {
  const compared = results.flatMap(({ scenario, rows }) => {
    const described = scenarios.find(({ name }) => name === scenario)
    if (described === undefined) return []
    const others = rows.filter(({ subject }) => subject === 'before')
    return others.flatMap((row) => {
      const ratio = ratioOf(rows, row, described.compared)
      return ratio ? [{ what: `${described.title}, ${row.work}`, ...ratio }] : []
    })
  })
  if (compared.length === 0) return ''
  const slower = compared.filter(({ median }) => median < 0.95)
  const lines = slower.map(
    ({ what, median, quartiles }) => `- ${what}: ${written(median)} × (${spread(quartiles)})`,
  )
  const heading = '## Against the commit before'
  if (lines.length === 0) {
    return `${heading}\n\nNone of ${compared.length} works is slower by more than a twentieth.`
  }
  return `${heading}\n\nOf ${compared.length} works these are slower by more than a twentieth:\n\n${lines.join('\n')}`
}

function boundOf({ least, most, unit }: Aim): string {
  return least === undefined ? `at most ${most} ${unit}` : `at least ${least} ${unit}`
}

const withUnit = (value: number, unit: string) =>
  Number.isNaN(value) ? '-' : `${written(value)} ${unit}`

const spread = ([lower, upper]: readonly [number, number]) =>
  Number.isNaN(lower) ? '-' : `${written(lower)} to ${written(upper)}`

const verdict = (isIt: boolean | undefined) =>
  isIt === undefined ? 'not measured' : isIt ? 'yes' : '**no**'

function sectionOf({ title, how, compared }: Described, result: ScenarioResult): string {
  const { rows, commit, rounds, measuredAt } = result
  const [day] = measuredAt.split('T')
  const lacking = Object.entries(result.missing).map(
    ([name, reason]) => `Missing: ${name}, ${reason}.`,
  )
  return [
    `## ${title}`,
    how,
    `Medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'} at commit \`${commit}\`, ${day}${impression(result)}.`,
    ...lacking,
    ...(rows.length > 0 ? [markdownTable(tableOf(rows, compared))] : []),
  ].join('\n\n')
}

const impression = ({ command }: ScenarioResult) =>
  command.includes('--quick') ? '; a first impression, with less of everything' : ''

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
