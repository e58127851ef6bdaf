import type { MeasuredCurve } from './growth-table.ts'

const [panelWidth, panelHeight, columns] = [225, 150, 4]
const frame = { left: 46, right: 10, top: 34, bottom: 26 }

/**
 * An SVG with a small panel for each figure, a row of them for each curve, both scales logarithmic: a flat line costs the
 * same, one from corner to corner of a square grows with it. What is not above 0 has no place there, and is left out.
 */
export function renderGrowth(curves: readonly MeasuredCurve[]): string {
  const panels = curves.flatMap(({ title, points }) => {
    const names = Object.keys(points[0]?.figures ?? {})
    return names.map((name) => ({
      title: name,
      below: title,
      dots: points.map(({ at, figures }) => [at, figures[name] ?? NaN] as const),
    }))
  })
  const height = Math.ceil(panels.length / columns) * panelHeight
  const width = columns * panelWidth
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>How cost grows</title>',
    style,
    ...panels.map((panel, at) => {
      const [x, y] = [(at % columns) * panelWidth, Math.floor(at / columns) * panelHeight]
      return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`
    }),
    '</svg>\n',
  ].join('\n')
}

const style = `<style>
text { font: 11px system-ui, sans-serif; fill: #333 } .axis { fill: #666; font-size: 10px }
.frame { fill: none; stroke: #ccc } .curve { fill: none; stroke: #1c7ed6; stroke-width: 2 } circle { fill: #1c7ed6 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .axis { fill: #aaa } .frame { stroke: #555 } }
</style>`

interface Panel {
  readonly title: string
  readonly below: string
  readonly dots: readonly (readonly [number, number])[]
}

function drawPanel({ title, below, dots }: Panel): string {
  const seen = dots.filter(([, value]) => value > 0)
  const [right, bottom] = [panelWidth - frame.right, panelHeight - frame.bottom]
  const x = scale(
    seen.map(([at]) => at),
    frame.left,
    right,
  )
  const y = scale(
    seen.map(([, value]) => value),
    bottom,
    frame.top,
  )
  const places = seen.map(([at, value]) => `${x.of(at).toFixed(1)},${y.of(value).toFixed(1)}`)
  const circles = places.map((place) => {
    const [cx, cy] = place.split(',')
    return `<circle cx="${cx}" cy="${cy}" r="2.5"/>`
  })
  return [
    `<text x="${frame.left}" y="14">${title}</text><text class="axis" x="${frame.left}" y="27">by ${below.toLowerCase()}</text>`,
    `<rect class="frame" x="${frame.left}" y="${frame.top}" width="${right - frame.left}" height="${bottom - frame.top}"/>`,
    `<polyline class="curve" points="${places.join(' ')}"/>`,
    ...circles,
    label(x.least, frame.left, bottom + 14, 'start'),
    label(x.most, right, bottom + 14, 'end'),
    label(y.most, frame.left - 4, frame.top + 9, 'end'),
    label(y.least, frame.left - 4, bottom, 'end'),
  ].join('')
}

/** From the power of ten below all values to the one above them. */
function scale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const of = (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
  return { of, least: 10 ** low, most: 10 ** high }
}

function label(value: number, x: number, y: number, anchor: string): string {
  const text = new Intl.NumberFormat('en', { notation: 'compact' }).format(value)
  return `<text class="axis" x="${x}" y="${y}" style="text-anchor: ${anchor}">${text}</text>`
}
