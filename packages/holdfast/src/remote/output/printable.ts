/** The text without what a terminal would obey: names and messages come from a server. */
export function printable(text: string): string {
  return text.replace(/[\0-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, '0')
    return `\\x${code}`
  })
}
