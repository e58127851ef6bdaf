import { formatBytes } from '@holdfast/core'

/** A size for people, and exactly: `2.15 GB (2147483648 bytes)`. */
export function sizeWithBytes(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`
}
