/** Escapes the characters of `text` that a terminal would obey, hide or reverse: names and messages may come from elsewhere. */
export function visible(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
