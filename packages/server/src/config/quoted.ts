/** What was written, in quotes, for messages; of a URL without what may be a name and password in it. */
export function quoted(text: string): string {
  return `"${text.replace(/\/\/.*@/s, '//…@')}"`
}
