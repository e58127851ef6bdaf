import { ratioOf } from './print-rows.ts'
import type { Described } from './render-document.ts'
import type { ScenarioResult } from './results.ts'

/** One line of the plot: some work, and how much better holdfast is at it than each of the others. */
export interface PlotRow {
  readonly title: string
  readonly points: readonly { readonly subject: string; readonly ratio: number }[]
}

/** What users could pick instead, in the order of the legend. */
export const plotted = ['nginx', 'dufs', 'fastify', 'express', 'minio'] as const

/** A row for each work that others did, too. */
export function plotRows(
  scenarios: readonly Described[],
  results: readonly ScenarioResult[],
): readonly PlotRow[] {
  return results.flatMap(({ scenario, rows }) => {
    const described = scenarios.find(({ name }) => name === scenario)
    if (described === undefined) return []
    const others = rows.filter(({ subject }) => (plotted as readonly string[]).includes(subject))
    const works = [...new Set(others.map(({ work }) => work))]
    return works.flatMap((work) => {
      const points = others.flatMap((row) => {
        const ratio = row.work === work ? ratioOf(rows, row, described.compared)?.median : undefined
        // Of memory that does not grow there is no ratio.
        return ratio !== undefined && ratio > 0 && Number.isFinite(ratio)
          ? [{ subject: row.subject, ratio }]
          : []
      })
      const title = works.length > 1 ? `${described.title}, ${work}` : described.title
      return points.length > 0 ? [{ title, points }] : []
    })
  })
}
