const escapes: Readonly<Record<string, string>> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

/**
 * `text` as it was before a browser put it into a form: the WHATWG algorithm for multipart/form-data escapes these
 * three characters and no other, not even the percent sign.
 */
export function undoFormEscapes(text: string): string {
  return text.replace(/%22|%0d|%0a/gi, (escape) => escapes[escape.toLowerCase()] ?? escape)
}
