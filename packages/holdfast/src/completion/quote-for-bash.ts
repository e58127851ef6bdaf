/** Characters that mean nothing to bash. Those beyond ASCII are letters to it. */
const plain = /[A-Za-z0-9_.,:@%+=/^-]/

/** `word` as one that bash takes literally, wherever it stands in a line. */
export function quoteForBash(word: string): string {
  return Array.from(word, (character) =>
    plain.test(character) || character > '\u007f' ? character : `\\${character}`,
  ).join('')
}
