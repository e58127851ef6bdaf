import type { Point } from './curve.ts'

export interface MeasuredCurve {
  readonly title: string
  readonly points: readonly Point[]
}

/** Markdown for docs/benchmarks.md, with the plot and a table for each curve. */
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
  const plot = '![The same as curves, both scales logarithmic](benchmarks/growth.svg)'
  return [origin, plot, ...tables].join('\n\n') + '\n'
}

/** Three digits, or all before the point. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return `${Number(value.toPrecision(3))}`
}
