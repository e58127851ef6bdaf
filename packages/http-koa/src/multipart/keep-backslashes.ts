import type { Writable } from 'node:stream'

interface PartHeaders {
  'content-disposition'?: string[]
}

interface HeaderParser {
  cb: (headers: PartHeaders) => void
}

/**
 * Makes busboy take a backslash in a part's `filename` for the ordinary character that browsers and curl mean by it.
 * Busboy takes it for the escape of RFC 9110 §5.6.4, so that the names `a\b` and `a\\b` become one, and a name that
 * ends with a backslash is none. Only `\"` stays what it is there: a quote, as older versions of curl send it.
 *
 * Busboy 1.6 has no option for this, so the headers are changed where they pass from its header parser to their
 * interpretation; its last version is of 2022, and the tests would notice another one.
 */
export function keepBackslashes(parser: Writable): void {
  const changed = new WeakSet<HeaderParser>()
  let current: HeaderParser | null = null
  Object.defineProperty(parser, '_hparser', {
    get: () => current,
    set(next: HeaderParser | null) {
      current = next
      if (next === null || changed.has(next)) return
      changed.add(next)
      const { cb } = next
      next.cb = (headers) => {
        const dispositions = headers['content-disposition']?.map(doubleBackslashes)
        if (dispositions) headers['content-disposition'] = dispositions
        cb(headers)
      }
    },
  })
}

/** The last quote of the header closes a name, whatever is before it. */
function doubleBackslashes(disposition: string): string {
  return disposition.replace(/\\(?!")|\\(?="\s*$)/g, '\\\\')
}
