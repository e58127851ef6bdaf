/**
 * The bytes that a reader asks for, before the size is known (RFC 9110 §14.1.2): either from `first` to `last`, both inclusive and
 * counted from 0, or to the end if `last` is absent or beyond the end; or the last `suffixLength` bytes.
 */
export type RangeRequest =
  | { readonly first: number; readonly last?: number }
  | { readonly suffixLength: number }

/** Bytes `offset` to `offset + length - 1` of a blob. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/**
 * The bytes that `request` selects in a blob of `size` bytes; all bytes without a request. `undefined` if the request selects no
 * byte, which RFC 9110 §15.5.17 calls unsatisfiable. A suffix longer than the blob selects the whole blob.
 */
export function resolveRange(
  request: RangeRequest | undefined,
  size: number,
): ByteRange | undefined {
  if (request === undefined) return { offset: 0, length: size }
  if ('suffixLength' in request) {
    const length = Math.min(request.suffixLength, size)
    return length > 0 ? { offset: size - length, length } : undefined
  }
  const last = Math.min(request.last ?? Infinity, size - 1)
  return request.first <= last
    ? { offset: request.first, length: last - request.first + 1 }
    : undefined
}
