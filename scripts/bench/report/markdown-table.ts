/** A Markdown table with its head first. Figures stand on the right, what comes before them, in `texts` columns, on the left. */
export function markdownTable(
  [head = [], ...body]: readonly (readonly string[])[],
  texts = 2,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, at) => (at < texts ? '---' : '--:'))
  return [head, rule, ...body].map(line).join('\n')
}
