import type { RangeRequest } from '@holdfast/core'

/** What a `Range` header asks for; `undefined` where it is to be ignored: several ranges, other units, nonsense. */
export function parseRange(header = ''): RangeRequest | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (first === '') return last === '' ? undefined : { suffixLength: Number(last) }
  if (last === '') return { first: Number(first) }
  return Number(first) <= Number(last) ? { first: Number(first), last: Number(last) } : undefined
}

/** Whether a range has the first or the last byte of a file, if that has any. */
export function isAtEdge(range: RangeRequest | undefined): boolean {
  if (range === undefined) return false
  return 'suffixLength' in range ? range.suffixLength > 0 : range.first === 0
}
