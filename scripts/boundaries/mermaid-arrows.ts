/** An arrow of a Mermaid flowchart: `-->` is thin, `-.->` dotted, `==>` thick. */
export interface Arrow {
  readonly from: string
  readonly to: string
  readonly kind: 'thin' | 'dotted' | 'thick'
}

const kinds = { '-->': 'thin', '-.->': 'dotted', '==>': 'thick' } as const
const arrowSign = /(-->|-\.->|==>)/
const label = /"[^"]*"|\(\[.*?\]\)|\[\(.*?\)\]|\[.*?\]/g
const names = /^[\w-]+( & [\w-]+)*$/

/**
 * The arrows of a Mermaid flowchart, in the order of its lines. Understands `a & b --> c & d`, chains, and labels in quotes
 * or brackets; lines without an arrow draw none.
 *
 * @throws Error for a line with an arrow that it does not understand
 */
export function mermaidArrows(flowchart: string): Arrow[] {
  return flowchart.split('\n').flatMap(arrowsOf)
}

function arrowsOf(line: string): Arrow[] {
  const [first = '', ...rest] = line
    .replaceAll(label, '')
    .split(arrowSign)
    .map((part) => part.trim())
  let from = first
  return rest.flatMap((sign, index) => {
    if (!isSign(sign)) return []
    const to = rest[index + 1] ?? ''
    if (!names.test(from) || !names.test(to)) throw new Error(`not understood: ${line.trim()}`)
    const arrows = from
      .split(' & ')
      .flatMap((one) =>
        to.split(' & ').map((other) => ({ from: one, to: other, kind: kinds[sign] })),
      )
    from = to
    return arrows
  })
}

function isSign(text: string): text is keyof typeof kinds {
  return text in kinds
}
