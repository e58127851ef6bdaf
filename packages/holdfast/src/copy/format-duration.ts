/** A time with its two largest units: `8s`, `1m 05s`, `26h 10m`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m ${two(whole % 60)}s`
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`
}
