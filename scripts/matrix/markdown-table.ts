/** A Markdown table with its head first, aligned as the formatter does. */
export function markdownTable([head = [], ...body]: readonly string[][]): string {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...body].map((row) => row[at]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, at) => text.padEnd(widths[at]!)).join(' | ')} |\n`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(head), rule, ...body.map(line)].join('')
}
