import type { MeasuredCurve } from './growth-table.ts'

const [panelWidth, panelHeight, columns] = [240, 160, 4]
const frame = { left: 70, right: 12, top: 38, bottom: 26 }

/**
 * An SVG with a small panel for each figure, both scales logarithmic: a flat line costs the same, one from corner to corner of
 * a square grows with it. What is not above 0 has no place there, and is left out. Each curve begins a row; the ends
 * of a scale say what it counts.
 */
export function renderGrowth(curves: readonly MeasuredCurve[]): string {
  const rows = curves.flatMap((curve) => inRows(panelsOf(curve)))
  const [width, height] = [columns * panelWidth, rows.length * panelHeight]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>How cost grows</title>',
    style,
    ...rows.flatMap((panels, row) =>
      panels.map((panel, at) => {
        const [x, y] = [at * panelWidth, row * panelHeight]
        return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`
      }),
    ),
    '</svg>\n',
  ].join('\n')
}

function panelsOf({ title, unit, points }: MeasuredCurve): readonly Panel[] {
  const names = Object.keys(points[0]?.figures ?? {})
  return names.map((name) => ({
    title: name,
    // The scale says what it counts.
    below: title.split(', ', 1)[0] ?? title,
    unit,
    dots: points.map(({ at, figures }) => [at, figures[name] ?? NaN] as const),
  }))
}

function inRows(panels: readonly Panel[]): readonly (readonly Panel[])[] {
  const rows = Math.ceil(panels.length / columns)
  return Array.from({ length: rows }, (_, row) => panels.slice(row * columns, (row + 1) * columns))
}

const style = `<style>
text { font: 11px system-ui, sans-serif; fill: #333 } .axis { fill: #666; font-size: 10px }
.frame { fill: none; stroke: #ccc } .curve { fill: none; stroke: #1c7ed6; stroke-width: 2 } circle { fill: #1c7ed6 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .axis { fill: #aaa } .frame { stroke: #555 } }
</style>`

interface Panel {
  readonly title: string
  readonly below: string
  /** What the horizontal scale counts. */
  readonly unit: string
  readonly dots: readonly (readonly [number, number])[]
}

function drawPanel({ title, below, unit, dots }: Panel): string {
  const seen = dots.filter(([, value]) => value > 0)
  const [right, bottom] = [panelWidth - frame.right, panelHeight - frame.bottom]
  const sizes = dots.map(([at]) => at)
  const x = scale([Math.min(...sizes), Math.max(...sizes)], [frame.left, right])
  const y = scale(powersAround(seen.map(([, value]) => value)), [bottom, frame.top])
  const figureUnit = unitOf(title)
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
    label(
      unit === 'bytes' ? withUnit(x.least, unit) : shown(x.least),
      frame.left,
      bottom + 14,
      'start',
    ),
    label(withUnit(x.most, unit), right, bottom + 14, 'end'),
    label(withUnit(y.most, figureUnit), frame.left - 4, frame.top + 9, 'end'),
    label(withUnit(y.least, figureUnit), frame.left - 4, bottom, 'end'),
  ].join('')
}

type Ends = readonly [least: number, most: number]

/** The power of ten below all values and the one above them. */
function powersAround(values: readonly number[]): Ends {
  if (values.length === 0) return [1, 10]
  const low = Math.floor(Math.log10(Math.min(...values)))
  return [10 ** low, 10 ** Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))]
}

/** A logarithmic scale that has its ends at two places. */
function scale([least, most]: Ends, [from, to]: Ends) {
  const of = (value: number) =>
    from + (Math.log(value / least) / Math.log(most / least)) * (to - from)
  return { of, least, most }
}

/** What a figure counts, by its name: of `GET, CPU s/GiB` seconds for each GiB, of `requests/s` those of a second. */
function unitOf(name: string): string {
  if (name.endsWith('requests/s')) return '/s'
  return name.split(', ').at(-1)?.replace('CPU ', '') ?? ''
}

const sizes = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number and what it counts; bytes in the largest unit of which there is one. */
function withUnit(value: number, unit: string): string {
  if (unit === 'bytes') {
    const power = Math.max(0, Math.floor(Math.log2(value) / 10))
    return `${shown(value / 1024 ** power)} ${sizes[power] ?? ''}`
  }
  return `${shown(value)}${unit.startsWith('/') ? '' : ' '}${unit}`
}

const shown = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3 })

function label(text: string, x: number, y: number, anchor: string): string {
  return `<text class="axis" x="${x}" y="${y}" style="text-anchor: ${anchor}">${text}</text>`
}
