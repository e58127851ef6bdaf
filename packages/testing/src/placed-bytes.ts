const KiB = 1024

/** A prime number of bytes: no piece is like another one that begins elsewhere at a round number. */
const period = Buffer.from(Array.from({ length: 65_521 }, (_, at) => (at * 167 + (at >> 8)) & 255))

/** `length` bytes of a content from `offset` on. They differ from those at other offsets, so that a misplaced piece shows. */
export function bytesAt(offset: number, length: number): Buffer {
  const start = offset % period.length
  const times = Math.ceil((start + length) / period.length)
  return Buffer.concat(Array.from({ length: times }, () => period)).subarray(start, start + length)
}

/** The same bytes in chunks of 64 KiB. */
export async function* piece(offset: number, length: number) {
  for (let at = 0; at < length; at += 64 * KiB) {
    yield bytesAt(offset + at, Math.min(64 * KiB, length - at))
  }
}
