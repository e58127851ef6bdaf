import type { Package } from '../boundaries/read-packages.ts'
import { placePackages, type Place } from './place-packages.ts'

const columnWidth = 150
const gap = 14
const rowGap = 34
const margin = 22
const lineHeight = 15
/** Of the widest fonts that pages take for sans-serif. */
const letterWidth = 6.2
const padding = 12
const footHeight = 44

interface Box extends Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly lines: readonly string[]
}

/**
 * The picture of the architecture as an SVG: a box for each published package, with its name and description, above the packages
 * that it imports. It brings a background of its own, so that it reads the same on light and dark pages, and uses no style
 * sheet, script or font, since many pages drop these.
 */
export function renderArchitecture(packages: readonly Package[]): string {
  const boxes = boxesOf(placePackages(packages))
  const width = Math.max(0, ...boxes.map((box) => box.x + box.width)) + margin
  const bottom = Math.max(0, ...boxes.map((box) => box.y + box.height))
  const height = bottom + footHeight
  const names = packages.filter(({ isPrivate }) => isPrivate).map(({ name }) => name)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="Helvetica, Arial, sans-serif">
<title>The packages of holdfast, each above those that it imports</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="#ffffff" stroke="#c9d1d9"/>
${boxes.flatMap((box) => arrowsOf(box, boxes)).join('\n')}
${boxes.map(drawn).join('\n')}
${textAt(margin, bottom + 20, 'Arrows are imports; those that follow from others are left out. Dashed: used by tests.', small)}
${textAt(margin, bottom + 35, `For tests only, not drawn: ${names.join(', ')}.`, small)}
</svg>
`
}

const small = 'font-size="11" fill="#57606a"'

function boxesOf(places: readonly Place[]): readonly Box[] {
  const sized = places.map((place) => {
    const [first, last] = place.columns
    const width = (last - first + 1) * (columnWidth + gap) - gap
    const lines = wrapped(place.description.replace(/\.$/, ''), (width - 2 * padding) / letterWidth)
    return { ...place, x: margin + first * (columnWidth + gap), width, lines }
  })
  const rows = [...new Set(sized.map(({ row }) => row))].sort((one, other) => other - one)
  const heightOf = (row: number) =>
    Math.max(...sized.filter((box) => box.row === row).map(({ lines }) => lines.length)) *
      lineHeight +
    2 * padding +
    20
  const topOf = (row: number) =>
    rows.filter((other) => other > row).reduce((sum, other) => sum + heightOf(other) + rowGap, 0)
  return sized.map((box) => ({ ...box, y: margin + topOf(box.row), height: heightOf(box.row) }))
}

function wrapped(text: string, limit: number): string[] {
  return text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > limit) return [...lines, word]
    return [...lines.slice(0, -1), `${last} ${word}`]
  }, [])
}

/** Straight down, in the middle of the narrower one of both boxes. */
function arrowsOf(from: Box, boxes: readonly Box[]): string[] {
  return from.imports.flatMap((name) => {
    const to = boxes.find((box) => box.name === name)
    if (to === undefined) return []
    const narrow = to.width < from.width ? to : from
    const x = narrow.x + narrow.width / 2
    const [y1, y2] = [from.y + from.height, to.y]
    const style = `stroke="#57606a" stroke-width="1.5"${from.isForTests ? ' stroke-dasharray="4 3"' : ''}`
    return [
      `<line x1="${x}" y1="${y1}" x2="${x}" y2="${y2 - 7}" ${style}/>`,
      `<path d="M${x - 5} ${y2 - 8} L${x} ${y2} L${x + 5} ${y2 - 8} Z" fill="#57606a"/>`,
    ]
  })
}

function drawn(box: Box): string {
  const { fill, ink } = coloursOf(box)
  const dash = box.isForTests ? ' stroke-dasharray="6 4"' : ''
  const x = box.x + padding
  const y = box.y + padding + 13
  return [
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="6" fill="${fill}" stroke="#3b5b82"${dash}/>`,
    textAt(x, y, box.name, `font-size="15" font-weight="bold" fill="${ink}"`),
    ...box.lines.map((line, at) =>
      textAt(x, y + 20 + at * lineHeight, line, `font-size="12" fill="${ink}"`),
    ),
  ].join('\n')
}

function coloursOf({ row, columns: [first, last], isForTests }: Box): {
  fill: string
  ink: string
} {
  if (row === 0) return { fill: '#1d4e89', ink: '#ffffff' }
  if (isForTests) return { fill: '#ffffff', ink: '#1f2328' }
  return { fill: first === last ? '#dcebfa' : '#fdf0d5', ink: '#1f2328' }
}

function textAt(x: number, y: number, text: string, style: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" ${style}>${escaped}</text>`
}
