const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const time = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'
const month = `(?<month>${months.join('|')})`
const forms = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
]

/**
 * The time that a date in one of HTTP's three forms (RFC 9110 §5.6.7) stands for, in milliseconds since the epoch;
 * `undefined` for anything else. `Date.parse` takes many other things for dates, and the third form for local time.
 */
export function parseHttpDate(text: string, now: number = Date.now()): number | undefined {
  for (const form of forms) {
    const fields = form.exec(text)?.groups
    if (fields !== undefined) return toTime(fields, now)
  }
  return undefined
}

function toTime(fields: Readonly<Record<string, string>>, now: number): number | undefined {
  const { year = '', month = '', day, hour, minute, second } = fields
  const fullYear = year.length === 2 ? nearestYear(Number(year), now) : Number(year)
  const date = new Date(0)
  date.setUTCFullYear(fullYear, months.indexOf(month), Number(day))
  // A day that the month does not have rolls over into the next one.
  if (date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(Number(hour), Number(minute), Number(second))
}

/** Fifty years ahead at most, as the RFC has it. */
function nearestYear(twoDigits: number, now: number): number {
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  return year > current + 50 ? year - 100 : year
}
