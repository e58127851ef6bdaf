/**
 * A value as one line of JSON. What a terminal would obey, hide or turn round is escaped, which means the same to programs.
 */
export function jsonLine(value: unknown, space?: number): string {
  const text = JSON.stringify(value, undefined, space)
  // Lines of JSON itself end with a line feed; one within a text is escaped already.
  return `${text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, escape)}\n`
}

/** Of each half of a character that has two. */
function escape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const code = character.charCodeAt(index).toString(16)
    return `\\u${code.padStart(4, '0')}`
  }).join('')
}
