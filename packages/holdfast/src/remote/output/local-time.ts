/** A time of the API in the time zone of this machine, to the minute: `2026-11-23 17:05`. */
export function localTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '-'
  const two = (value: number) => `${value}`.padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}
