const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** A number of bytes as people say it, in powers of 1000: `68.2 GB`. */
export function readableBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power] ?? ''}`
}
