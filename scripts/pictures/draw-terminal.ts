import xterm from '@xterm/headless'

/** What was written to a terminal, and when, in milliseconds since the beginning. */
export interface TerminalOutput {
  readonly time: number
  readonly text: string
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** In pixels. */
const cell = { width: 8.4, height: 20 }
const frame = { edge: 16, head: 36 }

/** Colours 0 to 15 of a terminal, on a dark ground. */
const palette = [
  ...['#1d2433', '#f07178', '#8fd18f', '#e6c374', '#82aaff', '#c792ea', '#7fd3e0', '#d5dae6'],
  ...['#7d879c', '#ff8b92', '#a5e3a5', '#ffd98f', '#9cbcff', '#d9aef5', '#98e3ee', '#ffffff'],
]
const colours = { ground: '#131926', text: '#d5dae6', dim: '#8f99ad' }

/** A row of the screen, drawn, from one time to another. */
interface ShownRow {
  readonly row: number
  readonly drawn: string
  readonly from: number
  to: number
}

/**
 * An SVG in which a terminal shows the output, again and again; without animation, its last screen. A row that does not change
 * is drawn once.
 */
export async function drawTerminal(
  output: readonly TerminalOutput[],
  { columns, rows }: TerminalSize,
): Promise<string> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const shown: ShownRow[] = []
  const present: (ShownRow | undefined)[] = Array.from({ length: rows })
  for (const { time, text } of output) {
    await new Promise<void>((resolve) => terminal.write(text, resolve))
    for (let row = 0; row < rows; row++) {
      const drawn = drawRow(terminal, row)
      const last = present[row]
      if (last) last.to = time
      if (last?.drawn === drawn) continue
      const next = drawn === '' ? undefined : { row, drawn, from: time, to: time }
      present[row] = next
      if (next) shown.push(next)
    }
  }
  const end = output.at(-1)?.time ?? 0
  const body = shown
    .filter(({ from, to }) => to > from)
    .map((each) => showRow(each, end))
    .join('\n')
  terminal.dispose()
  return render(body, end, { columns, rows })
}

/** The spans of a row; empty if nothing is in it. */
function drawRow(terminal: xterm.Terminal, row: number): string {
  const { active } = terminal.buffer
  const line = active.getLine(active.viewportY + row)
  const spans: { column: number; style: string; text: string }[] = []
  for (let column = 0; column < terminal.cols; column++) {
    const each = line?.getCell(column)
    const text = each?.getChars() || ' '
    const style = each ? styleOf(each) : ''
    const last = spans.at(-1)
    if (last?.style === style) last.text += text
    else spans.push({ column, style, text })
  }
  return spans
    .filter(({ text }) => text.trim() !== '')
    .map(({ column, style, text }) => {
      const indent = text.length - text.trimStart().length
      const x = (frame.edge + (column + indent) * cell.width).toFixed(1)
      const words = text.trim()
      const length = (words.length * cell.width).toFixed(1)
      return `<tspan x="${x}" textLength="${length}"${style}>${escape(words)}</tspan>`
    })
    .join('')
}

function styleOf(each: xterm.IBufferCell): string {
  const colour = each.isFgPalette() ? palette[each.getFgColor()] : undefined
  const fill = colour ?? (each.isDim() ? colours.dim : undefined)
  const weight = each.isBold() ? ' font-weight="700"' : ''
  return `${fill === undefined ? '' : ` fill="${fill}"`}${weight}`
}

/** The rows of the last screen are there without animation, and hidden until their time. */
function showRow({ row, drawn, from, to }: ShownRow, end: number): string {
  const y = frame.head + row * cell.height + 15
  const at = (time: number) => `l.begin+${(time / 1000).toFixed(2)}s`
  const isLast = to >= end
  const set = isLast
    ? `<set attributeName="visibility" to="hidden" begin="l.begin" end="${at(from)}"/>`
    : `<set attributeName="visibility" to="visible" begin="${at(from)}" end="${at(to)}"/>`
  return `<text y="${y}"${isLast ? '' : ' visibility="hidden"'}>${drawn}${set}</text>`
}

function render(body: string, end: number, { columns, rows }: TerminalSize): string {
  const width = Math.ceil(columns * cell.width + 2 * frame.edge)
  const height = frame.head + rows * cell.height + frame.edge
  const dots = ['#f07178', '#e6c374', '#8fd18f']
    .map((fill, index) => `<circle cx="${20 + index * 18}" cy="18" r="5.5" fill="${fill}"/>`)
    .join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal in which holdfast is used">
<rect width="${width}" height="${height}" rx="10" fill="${colours.ground}">
<animate id="l" attributeName="opacity" from="1" to="1" dur="${(end / 1000).toFixed(2)}s" begin="0s;l.end"/>
</rect>
${dots}
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="${colours.text}" style="white-space:pre">
${body}
</g>
</svg>
`
}

/** Uses no-break spaces: in a page that the picture is part of, others may collapse. */
function escape(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return escaped.replaceAll(' ', '\u00a0')
}
