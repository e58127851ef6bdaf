/** Names in ascending order of their UTF-8 bytes, outside the heap. */
export interface NameBlock {
  readonly first: string
  readonly bytes: Buffer
}

/** The most names in a block. */
export const blockLength = 128

/** Bytes that a block takes beside its names. */
const overhead = 256

/** Names have no control characters. */
const separator = '\n'

/** The blocks of `names`, which are in order. */
export function toBlocks(names: readonly string[]): NameBlock[] {
  const blocks: NameBlock[] = []
  for (let at = 0; at < names.length; at += blockLength) {
    blocks.push(toBlock(names.slice(at, at + blockLength)))
  }
  return blocks
}

function toBlock(names: readonly string[]): NameBlock {
  const text = names.join(separator)
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  // A string of its own: a name may be a part of a long string, which it would keep in memory.
  const first = Buffer.from(names[0] ?? '').toString()
  return { first, bytes }
}

/** The names that are in `block`. */
export function namesOf({ bytes }: NameBlock): string[] {
  return bytes.toString().split(separator)
}

/** Bytes of memory that `blocks` take. */
export function memoryOf(blocks: readonly NameBlock[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length + overhead, 0)
}
