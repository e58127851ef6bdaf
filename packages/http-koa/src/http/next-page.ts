/**
 * The value of a Link header (RFC 8288) that leads to the page after the name `last`. The URL has the other parameters of
 * `query`, and no path: so it is right behind every proxy that changes paths (RFC 3986 §5.2).
 */
export function nextPage(query: URLSearchParams, last: string): string {
  const parameters = new URLSearchParams(query)
  parameters.set('after', last)
  // A plus stands for a space in forms only.
  return `<?${parameters.toString().replaceAll('+', '%20')}>; rel="next"`
}
