import { advice, rangeErrorOf } from './advice.ts'

const factors: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
])

/**
 * Reads a number of bytes as a person writes it: `1048576`, `50GB`, `1.5 GiB`, `10 mib`. Units, in upper or lower case: B; kB, MB,
 * GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024. A fraction of a byte is cut off.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text, for negative sizes, and for sizes beyond
 *   `Number.MAX_SAFE_INTEGER`. A `K`, `M` or `G` alone is refused, since it has two meanings. The message can end a sentence (`is
 *   not a size …`).
 */
export function parseByteSize(text: string): number {
  const [, digits, unit] = /^(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]{0,3})$/i.exec(text.trim()) ?? []
  const factor = factors.get(unit?.toLowerCase() ?? '?')
  if (digits === undefined || factor === undefined) {
    throw rangeErrorOf(
      advice('is not a size', 'write bytes as in 1048576, or a unit as in 50GB or 10 MiB'),
    )
  }
  const bytes = Math.floor(Number(digits) * factor)
  if (!Number.isSafeInteger(bytes)) throw new RangeError('is a larger size than can be counted')
  return bytes
}

const keepUnits: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 24 * 3_600_000,
}

/**
 * Reads how long what is replaced or deleted is kept, such as `30d` or `off`; in milliseconds, 0 for `off`.
 *
 * @throws RangeError with its remedy (see `adviceOf`) for any other text, and for less than a minute or more than 36,500 days. The
 *   message can end a sentence (`is not a time …`).
 */
export function parseKeepReplaced(text: string): number {
  const trimmed = text.trim()
  if (trimmed === 'off') return 0
  const [, digits, unit = ''] = /^(\d{1,8}(?:\.\d{1,3})?)\s*([mhd])$/.exec(trimmed) ?? []
  const ms = Number(digits) * (keepUnits[unit] ?? NaN)
  if (ms >= 60_000 && ms <= 36_500 * 24 * 3_600_000) return Math.round(ms)
  throw rangeErrorOf(
    advice('is not a time between 1m and 36500d', 'write it as in 30d or 12h, or off'),
  )
}

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number of bytes as text for people, with up to three digits and a unit in powers of 1000: `2.15 GB`, `512 B`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // A value that would be rounded up to 1000 becomes 1 of the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  // Bytes have no decimals; other units have so many that the text has three digits.
  const decimals = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(decimals)} ${units[unit] ?? ''}`
}

/**
 * The one of `words` that the writer of `word` probably meant: equal except for case, or at most two edits away; for a `word` of up
 * to three letters, at most one.
 */
export function closestWord(word: string, words: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  let closest: string | undefined
  let least = word.length > 3 ? 3 : 2
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = editDistance(lower, candidate.toLowerCase())
    if (distance < least && distance < candidate.length) [closest, least] = [candidate, distance]
  }
  return closest
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of Array.from(from).entries()) {
    let left = index + 1
    row = [
      left,
      ...row.slice(1).map((above, column) => {
        const replaced = (row[column] ?? 0) + (to[column] === letter ? 0 : 1)
        return (left = Math.min(above + 1, left + 1, replaced))
      }),
    ]
  }
  return row[to.length] ?? 0
}

/** Whether the `hostname` of a URL is this machine: `localhost` or a subdomain of it, ::1, or an address of 127.0.0.0/8. */
export function isLoopbackHost(hostname: string): boolean {
  // URLs normalize each such address to this form. A name that only begins with "127." may be any machine.
  return /^(127(\.\d{1,3}){3}|\[::1\]|(.*\.)?localhost)$/.test(hostname)
}
