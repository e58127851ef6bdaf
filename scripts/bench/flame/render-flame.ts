import type { Call } from './call-tree.ts'

const width = 1200
const rowHeight = 18
const top = 34

/** Calls that are narrower, in pixels, are left out: they could not be seen, and are most of the file. */
const narrowest = 1

const characterWidth = 6.3

/** Where code is from, and its colour. */
const colours = [
  [/^\(/, '#ced4da'],
  [/\(node:/, '#a5d8ff'],
  [
    /\((core|contract|http-koa|server|store-disk|store-minio|copy|credentials-file|passwords): /,
    '#ffa94d',
  ],
  [/\(/, '#ffe066'],
  [/^/, '#ced4da'],
] as const

/**
 * A flame graph as an SVG that needs no script: callers above, what they called below them, as wide as it took. The
 * whole name and the share stand in the tooltip.
 */
export function renderFlame(title: string, root: Call): string {
  const rows: string[] = []
  let deepest = 0
  const draw = (call: Call, left: number, depth: number) => {
    const wide = (call.total / root.total) * width
    if (wide < narrowest) return
    deepest = Math.max(deepest, depth)
    rows.push(box(call, left, wide, depth, call.total / root.total))
    let next = left
    for (const child of call.children) {
      draw(child, next, depth + 1)
      next += (child.total / root.total) * width
    }
  }
  draw(root, 0, 0)
  const height = top + (deepest + 1) * rowHeight + 8
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<style>rect { stroke: #fff; stroke-width: .5 } text { font: 11px ui-monospace, monospace; fill: #222; pointer-events: none } .title { font: 14px system-ui, sans-serif }</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text class="title" x="6" y="21">${escaped(title)}: orange holdfast, yellow libraries, blue Node.js, grey the engine</text>`,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

function box(call: Call, left: number, wide: number, depth: number, share: number): string {
  const y = top + depth * rowHeight
  const [, colour = ''] = colours.find(([from]) => from.test(call.name)) ?? []
  const tooltip = `${escaped(call.name)}: ${(share * 100).toFixed(1)} %`
  const rect = `<rect x="${left.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${rowHeight - 1}" fill="${colour}"><title>${tooltip}</title></rect>`
  const text = call.name.slice(0, Math.max(0, Math.floor((wide - 6) / characterWidth)))
  if (text.length < 3) return rect
  return `${rect}<text x="${(left + 3).toFixed(1)}" y="${y + 12.5}">${escaped(text)}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
