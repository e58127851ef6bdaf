/** What a request with this Range header is to get of a file: these bytes, a 416, or the whole file. */
export type RangeVerdict = { readonly first: number; readonly last: number } | 'none' | 'whole'

/**
 * RFC 9110 §14.1.1 and §14.2, step by step and with numbers of any size: what a single, well-formed range selects.
 * `undefined` where the RFC leaves a choice, as with white space that only lists allow.
 */
export function selectRange(header: string, size: number): RangeVerdict | undefined {
  const equals = header.indexOf('=')
  if (equals < 0) return 'whole'
  if (header.slice(0, equals).toLowerCase() !== 'bytes') return 'whole'
  const set = header.slice(equals + 1)
  if (set !== set.trim()) return undefined
  const [first = '', last, ...more] = set.split('-')
  if (last === undefined || more.length > 0) return 'whole'
  if (!isDigits(first) || !isDigits(last) || (first === '' && last === '')) return 'whole'
  if (first === '') return suffix(BigInt(last), BigInt(size))
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  // RFC 9110 §14.2 lets a server ignore a range, and this one does where it is at an edge of an empty file.
  if (size === 0 && BigInt(first) === 0n) return 'whole'
  if (BigInt(first) >= BigInt(size)) return 'none'
  const end = last === '' || BigInt(last) >= BigInt(size) ? size - 1 : Number(last)
  return { first: Number(first), last: end }
}

function suffix(length: bigint, size: bigint): RangeVerdict {
  if (length === 0n) return 'none'
  if (size === 0n) return 'whole'
  const first = length > size ? 0n : size - length
  return { first: Number(first), last: Number(size) - 1 }
}

function isDigits(text: string): boolean {
  return /^[0-9]*$/.test(text)
}
