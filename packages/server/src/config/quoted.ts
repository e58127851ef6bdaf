/** What was written, in quotes, for messages; without what may be the name and password of a URL, even a misspelt one. */
export function quoted(text: string): string {
  return `"${text.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@')}"`
}
