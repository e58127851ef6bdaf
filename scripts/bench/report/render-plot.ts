import { plotted, type PlotRow } from './plot-rows.ts'

const width = 900
const left = 330
const right = 30
const top = 78
const rowHeight = 24

/** Distinct by shape as well, since not all readers see colours. */
const marks: Record<(typeof plotted)[number], { readonly colour: string; readonly path: string }> =
  {
    nginx: { colour: '#2f9e44', path: 'M-5-5h10v10h-10z' },
    dufs: { colour: '#e8590c', path: 'M0-6.5 6.5 0 0 6.5-6.5 0z' },
    fastify: { colour: '#1c7ed6', path: 'M0-6 6 5-6 5z' },
    express: { colour: '#ae3ec9', path: 'M0 6 6-5-6-5z' },
    minio: { colour: '#e03131', path: 'M-6-2h4v-4h4v4h4v4h-4v4h-4v-4h-4z' },
  }

/**
 * An SVG of ratios on a logarithmic scale, a line for each work: right of the middle holdfast is better. Readable on light
 * and on dark ground.
 */
export function renderPlot(rows: readonly PlotRow[]): string {
  const powers = powersAround(rows.flatMap(({ points }) => points.map(({ ratio }) => ratio)))
  const [least = -1, most = 1] = [powers[0], powers.at(-1)]
  const x = (ratio: number) =>
    left + ((Math.log2(ratio) - least) / (most - least)) * (width - left - right)
  const height = top + rows.length * rowHeight + 34
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>How much better holdfast is than others at the same work</title>',
    style,
    legend(),
    ...powers.map((power) => gridLine(x(2 ** power), power, height)),
    ...rows.map((row, at) => plotLine(row, top + (at + 0.5) * rowHeight, x)),
    '</svg>\n',
  ].join('\n')
}

const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #333 }
.axis { fill: #666; text-anchor: middle }
.grid { stroke: #ddd } .even { stroke: #888; stroke-width: 1.5 } .line { stroke: #eee }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .axis { fill: #aaa } .grid { stroke: #3a3a3a } .even { stroke: #999 } .line { stroke: #2a2a2a }
}
</style>`

/** The powers of two that all ratios lie between, the middle, 1, among them. */
function powersAround(ratios: readonly number[]): number[] {
  const logs = ratios.map(Math.log2)
  const least = Math.min(-1, Math.floor(Math.min(...logs)))
  const most = Math.max(1, Math.ceil(Math.max(...logs)))
  return Array.from({ length: most - least + 1 }, (_, at) => least + at)
}

function legend(): string {
  const entries = plotted.map(
    (name, at) => mark(name, left + at * 100 + 6, 20) + label(name, left + at * 100 + 18, 24),
  )
  const sides = [
    `<text class="axis" x="${(left + width - right) / 2}" y="48">times as fast as the other</text>`,
    `<text class="axis" x="${left}" y="48" style="text-anchor: start">← they are faster</text>`,
    `<text class="axis" x="${width - right}" y="48" style="text-anchor: end">holdfast is faster →</text>`,
  ]
  return [...entries, ...sides].join('\n')
}

function gridLine(x: number, power: number, height: number): string {
  const at = x.toFixed(1)
  const text = power < 0 ? `1/${2 ** -power}` : `${2 ** power}`
  return (
    `<line class="${power === 0 ? 'even' : 'grid'}" x1="${at}" x2="${at}" y1="${top - 6}" y2="${height - 28}"/>` +
    `<text class="axis" x="${at}" y="${top - 12}">${text}</text><text class="axis" x="${at}" y="${height - 12}">${text}</text>`
  )
}

function plotLine({ title, points }: PlotRow, y: number, x: (ratio: number) => number): string {
  const line = `<line class="line" x1="${left}" x2="${width - right}" y1="${y}" y2="${y}"/>`
  const text = `<text x="${left - 12}" y="${y + 4}" style="text-anchor: end">${title}</text>`
  return [line, text, ...points.map(({ subject, ratio }) => mark(subject, x(ratio), y))].join('')
}

function mark(subject: string, x: number, y: number): string {
  const { colour, path } = marks[subject as keyof typeof marks]
  return `<path d="${path}" fill="${colour}" transform="translate(${x.toFixed(1)} ${y})"><title>${subject}</title></path>`
}

const label = (text: string, x: number, y: number) => `<text x="${x}" y="${y}">${text}</text>`
