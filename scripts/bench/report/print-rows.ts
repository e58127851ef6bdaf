import { figureTitles, isMoreBetter, type Figure } from '../measure/figures.ts'
import type { Measured } from '../measure-scenario.ts'
import type { Row } from '../measure/measure-lanes.ts'
import { summaryOf, type Summary } from '../measure/median.ts'
import type { Scenario } from '../scenarios/scenario.ts'

/** A table of what was measured, one cell for each figure that any row has, and one for the ratio to the first of holdfast's. */
export function tableOf(rows: readonly Row[], compared: Figure): string[][] {
  const shown = (Object.keys(figureTitles) as Figure[]).filter((name) =>
    rows.some(({ figures }) => figures[name] !== undefined),
  )
  const head = ['server', 'work', ...shown.map((name) => figureTitles[name]), 'holdfast is']
  const body = rows.map((row) => [
    row.subject,
    row.work,
    ...shown.map((name) => written(row.figures[name])),
    writtenRatio(ratioOf(rows, row, compared)),
  ])
  return [head, ...body]
}

/**
 * How much better than `row` holdfast is at the same work, as a summary of the rounds: 2 is twice as fast. Where it has no lane of
 * that work, as with forms where it has only PUT, its first lane that is no ping counts. `undefined` where there is nothing to compare.
 */
export function ratioOf(rows: readonly Row[], row: Row, compared: Figure): Summary | undefined {
  const own = rows.filter(({ subject }) => subject === 'holdfast')
  const one = own.find(({ work }) => work === row.work) ?? own.find(({ work }) => work !== '/ping')
  if (one === undefined || one === row) return undefined
  const ratios = one.rounds.flatMap((round, at) => {
    const [ours, theirs] = [round[compared], row.rounds[at]?.[compared]]
    if (ours === undefined || theirs === undefined) return []
    return [isMoreBetter(compared) ? ours / theirs : theirs / ours]
  })
  return ratios.length > 0 ? summaryOf(ratios) : undefined
}

/** A figure with as many digits as one can rely on. */
export function written(value: number | undefined): string {
  if (value === undefined) return ''
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3
  return value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ' ')
}

const writtenRatio = (ratio: Summary | undefined) =>
  ratio === undefined ? '' : `${written(ratio.median)} ×`

/** What a scenario has brought, for a terminal. */
export function printed({ name, title, compared }: Scenario, { rows, missing }: Measured): string {
  const lacking = Object.entries(missing).map(([what, reason]) => `missing: ${what}, ${reason}`)
  const table = rows.length > 0 ? alignedLines(tableOf(rows, compared)) : []
  return ['', `${name}: ${title}`, ...table, ...lacking].join('\n')
}

function alignedLines(table: readonly (readonly string[])[]): string[] {
  const widthOf = (at: number) => Math.max(...table.map((row) => (row[at] ?? '').length))
  return table.map((row) =>
    row
      .map((cell, at) => (at < 2 ? cell.padEnd(widthOf(at)) : cell.padStart(widthOf(at))))
      .join('  '),
  )
}
