import { formatBytes } from '@holdfast/core'

/** A time with its two largest units: `8s`, `1m 05s`, `26h 10m`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m ${two(whole % 60)}s`
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
}

/** A time of the API in the local time zone, to the minute: `2026-11-23 17:05`. */
export function localTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '-'
  const two = (value: number) => `${value}`.padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** A size for people, and exactly: `2.15 GB (2147483648 bytes)`. */
export function sizeWithBytes(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`
}
