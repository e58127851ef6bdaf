/** Takes text, and writes it some time later, in order. */
interface LineWriter {
  write(text: string): void
  /** Writes what has been taken now. */
  flushSync(): void
}

/**
 * A writer of lines that hands those of one turn of the event loop on together, whole lines of at most `maxBytes` at a
 * time: each write wakes up a thread of the pool, which takes longer than all else about a line.
 */
export function gatherLines(writer: LineWriter, maxBytes: number): LineWriter {
  let gathered = ''
  let bytes = 0
  const handOn = () => {
    const text = gathered
    gathered = ''
    bytes = 0
    if (text !== '') writer.write(text)
  }
  return {
    write(line) {
      const more = Buffer.byteLength(line)
      if (bytes + more > maxBytes) handOn()
      if (gathered === '') setImmediate(handOn)
      gathered += line
      bytes += more
    },
    flushSync() {
      handOn()
      writer.flushSync()
    },
  }
}
