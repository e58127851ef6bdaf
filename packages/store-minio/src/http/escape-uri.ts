/** Escapes all but the unreserved characters (RFC 3986 §2.3), as signatures do; `encodeURIComponent` escapes fewer. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
