import type { Figure } from '../measure/figures.ts'
import { markdownTable } from './markdown-table.ts'
import { written } from './print-rows.ts'
import type { ScenarioResult } from './results.ts'

const servers = ['holdfast', 'fastify', 'express', 'nginx', 'dufs'] as const

/** Of the run of scripts/powercut that docs/reliability.md reports. */
const powerCuts = { lost: '0', operations: '16,573' }

/** The table at the top of the README: speed, memory and power cuts, beside others. */
export function renderHeadline(results: readonly ScenarioResult[]): string {
  const rows = [
    rowOf(results, 'Speed: downloads of 4 KiB, a second', 'get-4kib-hot', 'GET', 'perSecond'),
    rowOf(
      results,
      'Memory: growth for 64 uploads of 100 MiB at once, MiB',
      'upload-64-at-once',
      undefined,
      'growthMiB',
    ),
    [
      `Power cuts: acknowledged operations lost, of ${powerCuts.operations}`,
      powerCuts.lost,
      ...servers.slice(1).map(() => ''),
    ],
  ]
  const table = [['on one machine', ...servers], ...rows]
  return `${markdownTable(
    table.map((row) => row.filter(isMeasured(rows))),
    1,
  )}\n`
}

/** Whether a column has a figure: a program that is not there has none. */
function isMeasured(rows: readonly (readonly string[])[]) {
  return (_cell: string, column: number) => rows.some((row) => row[column] !== '')
}

/** A figure of each server; the largest one where it did the work in several ways. */
function rowOf(
  results: readonly ScenarioResult[],
  title: string,
  scenario: string,
  work: string | undefined,
  figure: Figure,
): readonly string[] {
  const rows = results.find((result) => result.scenario === scenario)?.rows ?? []
  return [
    title,
    ...servers.map((server) => {
      const some = rows.filter((row) => row.subject === server && row.work === (work ?? row.work))
      const largest = Math.max(...some.map((row) => row.figures[figure] ?? NaN))
      return Number.isFinite(largest) ? written(largest) : ''
    }),
  ]
}
