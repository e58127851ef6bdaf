/** `text` without what a terminal would not show, or take for a command. */
export function visible(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
