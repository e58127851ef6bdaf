import type { RangeRequest } from '@holdfast/core'

const singleByteRange = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * The range that a Range header asks for (RFC 9110 §14.2); `undefined` where it is to be ignored and the whole file
 * served: no header, another unit, several ranges, or not a valid range.
 */
export function parseRange(header: string | undefined): RangeRequest | undefined {
  const match = singleByteRange.exec(header ?? '')
  if (match === null) return undefined
  const [, first, last, suffixLength] = match
  if (suffixLength !== undefined) return { suffixLength: Number(suffixLength) }
  if (last === '' || last === undefined) return { first: Number(first) }
  // As numbers, 2^53 + 1 and 2^53 are one.
  if (BigInt(first ?? 0) > BigInt(last)) return undefined
  return { first: Number(first), last: Number(last) }
}

/** Whether a range has the first or the last byte of a file, if that has any. */
export function isAtEdge(range: RangeRequest | undefined): boolean {
  if (range === undefined) return false
  return 'suffixLength' in range ? range.suffixLength > 0 : range.first === 0
}
