const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number of bytes for people, with three digits and a unit, powers of 1000: `2.15 GB`, `512 B`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // What would be rounded up to 1000 is one of the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  // Only whole bytes are as they are; the number of decimals keeps the width steady.
  const decimals = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(decimals)} ${units[unit] ?? ''}`
}
