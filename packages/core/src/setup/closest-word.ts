/**
 * The one of `words` that `word` is probably a slip of: equal but for case, or at most two edits away; of up to three letters, one.
 */
export function closestWord(word: string, words: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  let closest: string | undefined
  let least = word.length > 3 ? 3 : 2
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = editDistance(lower, candidate.toLowerCase())
    if (distance < least && distance < candidate.length) [closest, least] = [candidate, distance]
  }
  return closest
}

/** Levenshtein's distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of Array.from(from).entries()) {
    let left = index + 1
    row = [
      left,
      ...row.slice(1).map((above, column) => {
        const replaced = (row[column] ?? 0) + (to[column] === letter ? 0 : 1)
        return (left = Math.min(above + 1, left + 1, replaced))
      }),
    ]
  }
  return row[to.length] ?? 0
}
