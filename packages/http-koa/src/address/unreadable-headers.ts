import type { HttpLog } from '../errors/log.ts'

/** Called with a header of a trusted proxy that has no meaning here, such as `X-Forwarded-For`, and with its value. */
export type OnUnreadableHeader = (header: string, value: string) => void

const maxCharacters = 100

/** An {@link OnUnreadableHeader} that writes one warning for each header, with the first value that cannot be read. */
export function warnOfUnreadableHeaders(log: HttpLog): OnUnreadableHeader {
  const warned = new Set<string>()
  return (header, value) => {
    if (warned.has(header)) return
    warned.add(header)
    const isLong = value.length > maxCharacters
    const shown = isLong ? `${value.slice(0, maxCharacters)}…` : value
    log.warn({ header, value: shown }, 'A header of a trusted proxy cannot be read')
  }
}
