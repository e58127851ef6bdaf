/** Cached: to make a formatter takes longer than to format a hundred numbers, and a list shows many. */
const numbers = cached((language, options?: Intl.NumberFormatOptions) =>
  Intl.NumberFormat(language, options),
)
const dates = cached((language, options?: Intl.DateTimeFormatOptions) =>
  Intl.DateTimeFormat(language, options),
)

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A size for people, in powers of 1000: `1.2 GB`. */
export function formatSize(bytes: number, language: string): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return numbers(language, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power < 2 || value >= 100 ? 0 : 1,
  }).format(value)
}

/** The remaining time, rounded so that it does not flicker: `3 min`, `1 h 20 min`. */
export function formatDuration(seconds: number, language: string): string {
  const part = (value: number, unit: 'second' | 'minute' | 'hour') =>
    numbers(language, { style: 'unit', unit, unitDisplay: 'short' }).format(value)
  if (seconds < 10) return part(Math.max(1, Math.round(seconds)), 'second')
  if (seconds < 55) return part(Math.ceil(seconds / 5) * 5, 'second')
  const minutes = Math.max(1, Math.round(seconds / 60))
  if (minutes < 60) return part(minutes, 'minute')
  const rest = minutes % 60
  return part(Math.floor(minutes / 60), 'hour') + (rest > 0 ? ` ${part(rest, 'minute')}` : '')
}

/** The time if `date` is on the day of `now`; otherwise the date, with the year if that differs. */
export function formatDate(date: Date, now: Date, language: string): string {
  const isToday = date.toDateString() === now.toDateString()
  if (isToday) return dates(language, { timeStyle: 'short' }).format(date)
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return dates(language, { day: 'numeric', month: 'short', ...year }).format(date)
}

/** Date and time in full. */
export function formatMoment(date: Date, language: string): string {
  return dates(language, { dateStyle: 'medium', timeStyle: 'short' }).format(date)
}

/** Date and time in full, to the second: versions may follow each other within a minute. */
export function formatSecond(date: Date, language: string): string {
  return dates(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(date)
}

/** A number with the separators of the language: `12,345`. */
export function formatCount(count: number, language: string): string {
  return numbers(language).format(count)
}

/** A fraction as a percentage: `42%`. */
export function formatPercent(share: number, language: string): string {
  return numbers(language, { style: 'percent' }).format(share)
}

/** Makes each formatter once. */
function cached<Options, Made>(
  make: (language: string, options?: Options) => Made,
): (language: string, options?: Options) => Made {
  const made = new Map<string, Made>()
  return (language, options) => {
    const key = `${language} ${JSON.stringify(options)}`
    const known = made.get(key)
    if (known !== undefined) return known
    const formatter = make(language, options)
    made.set(key, formatter)
    return formatter
  }
}

/** Marks, and letters whose form depends on their neighbours: a cut among them would be visible. */
const joined = /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}]/u

/** Splits a name before its extension, which has at most eight characters with its dot, and may be empty. */
export function splitExtension(name: string): readonly [stem: string, extension: string] {
  const dot = name.lastIndexOf('.')
  const at = dot > 0 && name.length - dot <= 8 ? dot : name.length
  return [name.slice(0, at), name.slice(at)]
}

/** The most characters of a name in a message. */
const longestInText = 36

/** A name for a sentence: its middle is left out if it is long, so that its end with the extension stays. */
export function shortName(name: string): string {
  const characters = Array.from(name)
  if (characters.length <= longestInText) return name
  return `${characters.slice(0, longestInText - 13).join('')}…${characters.slice(-12).join('')}`
}

/** Splits a name: the start may be cut if space is short; the end with the extension may not. */
export function splitName(name: string): readonly [start: string, end: string] {
  const [whole, extension] = splitExtension(name)
  // By characters, so that no surrogate pair is cut.
  const stem = Array.from(whole)
  const kept = stem.length > 12 && !joined.test(stem.slice(-5).join('')) ? 4 : 0
  return [
    stem.slice(0, stem.length - kept).join(''),
    stem.slice(stem.length - kept).join('') + extension,
  ]
}
