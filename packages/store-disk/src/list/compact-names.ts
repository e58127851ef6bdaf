/** Decoded at a time, for a reader. */
const chunkLength = 128

/** Between names, which have no control characters. */
const separator = '\n'

const separatorByte = 0x0a

/** `names`, of which there is one at least, in the memory that their bytes take, and none of the heap. */
export function compactNames(names: readonly string[]): Buffer {
  return Buffer.from(names.join(separator) + separator)
}

/** The names that {@link compactNames} was given. */
export function* readCompactNames(compact: Buffer): Generator<string> {
  for (let from = 0, to = 0; from < compact.length; from = to) {
    for (let count = 0; count < chunkLength && to < compact.length; count++) {
      to = compact.indexOf(separatorByte, to) + 1
    }
    yield* compact.toString('utf8', from, to - 1).split(separator)
  }
}
