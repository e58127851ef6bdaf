import type { Point } from './curve.ts'

export interface MeasuredCurve {
  readonly title: string
  /** What `at` of its points counts, in the plural. */
  readonly unit: string
  readonly points: readonly Point[]
}

/** Markdown for docs/benchmarks.md, with the plot. */
export function growthPlot(origin: string): string {
  const plot = '![How cost grows, both scales logarithmic](benchmarks/growth.svg)'
  return `${origin} [The figures](benchmarks/figures.md#how-cost-grows) of the curves:\n\n${plot}\n`
}

/** Markdown for docs/benchmarks/figures.md, with a table for each curve. */
export function growthTable(origin: string, curves: readonly MeasuredCurve[]): string {
  const tables = curves.map(({ title, points }) => {
    const names = Object.keys(points[0]?.figures ?? {})
    const rows = points.map(({ at, figures }) => [
      at.toLocaleString('en'),
      ...names.map((name) => shown(figures[name] ?? NaN)),
    ])
    const lines = [[title, ...names], ['--:', ...names.map(() => '--:')], ...rows]
    return `### ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`
  })
  return [origin, ...tables].join('\n\n') + '\n'
}

/** Three digits, or all before the point. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return `${Number(value.toPrecision(3))}`
}
