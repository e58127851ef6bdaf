/** The most bytes of a name in UTF-8. */
export const longestName = 255

const encoder = new TextEncoder()

export const bytesOf = (text: string): number => encoder.encode(text).length

/** A name without its extension, and that; one that is longer than 16 bytes is none. */
export function apart(name: string): { readonly stem: string; readonly extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** As much of the beginning of `text` as fits into so many bytes, whole characters only. */
export function fitting(text: string, bytes: number): string {
  let kept = ''
  let room = bytes
  for (const character of text) {
    room -= bytesOf(character)
    if (room < 0) break
    kept += character
  }
  return kept
}
