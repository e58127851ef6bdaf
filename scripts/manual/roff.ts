/** `text` as roff shows it: dashes that can be searched and copied, and no line that looks like a request. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&')
}

/** A term in bold, where it is not what the user has to put in its place. */
export function bold(text: string): string {
  return `\\fB${roff(text)}\\fR`
}
