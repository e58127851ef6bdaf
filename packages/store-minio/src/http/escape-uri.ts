/** Escapes all but what RFC 3986 §2.3 leaves alone, as signatures do; `encodeURIComponent` leaves more. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
