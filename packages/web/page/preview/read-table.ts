/** The most that is shown of a table. */
const most = { rows: 1000, columns: 100 }

export interface TextTable {
  readonly rows: readonly (readonly string[])[]
  /** Whether there are more rows or columns. */
  readonly isCut: boolean
}

/** Reads comma-separated values (RFC 4180), also with semicolons or tabs between, as spreadsheets write them. */
export function readTable(text: string): TextTable {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let isCut = false
  const endCell = (cell: string) => {
    if (row.length < most.columns) row.push(cell)
    else isCut = true
  }
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    if (rows.length === most.rows) return { rows, isCut: true }
    const { cell, end } =
      text[at] === '"' ? quoted(text, at, separator) : plain(text, at, separator)
    endCell(cell)
    at = end
    if (text[at] === separator) {
      at += 1
      // A separator at the end is followed by an empty cell.
      if (at < text.length) continue
      endCell('')
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1
    at += 1
    rows.push(row)
    row = []
  }
  return { rows, isCut }
}

interface ReadCell {
  readonly cell: string
  /** The index after the cell. */
  readonly end: number
}

/** A cell in quotes, in which `""` is a quote. What follows the last quote belongs to it, too. */
function quoted(text: string, start: number, separator: string): ReadCell {
  let cell = ''
  let at = start + 1
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return { cell: cell + text.slice(at), end: text.length }
    cell += text.slice(at, quote)
    at = quote + 1
    if (text[at] !== '"') break
    cell += '"'
    at += 1
  }
  const rest = plain(text, at, separator)
  return { cell: cell + rest.cell, end: rest.end }
}

function plain(text: string, start: number, separator: string): ReadCell {
  let end = start
  while (end < text.length && text[end] !== separator && !isLineEnd(text[end])) end += 1
  return { cell: text.slice(start, end), end }
}

const isLineEnd = (character: string | undefined) => character === '\n' || character === '\r'

/** The one of the usual separators that is most often in the first line. */
function separatorOf(text: string): string {
  const [line = ''] = text.slice(0, 10_000).split(/[\r\n]/, 1)
  const unquoted = line.replace(/"[^"]*"/g, '')
  const columns = (separator: string) => unquoted.split(separator).length
  return [';', '\t'].reduce((best, each) => (columns(each) > columns(best) ? each : best), ',')
}
