/** Takes lines, and hands them on some time later, in order. */
interface LineGatherer {
  write(line: string): void
  /** Hands on what has been taken now. */
  flush(): void
}

/**
 * Hands the lines of one turn of the event loop to `write` together, whole lines of at most `maxBytes` at a time: each write
 * wakes up a thread of the pool, which takes longer than all else about a line.
 */
export function gatherLines(write: (lines: string) => void, maxBytes: number): LineGatherer {
  let gathered = ''
  let bytes = 0
  const flush = () => {
    const text = gathered
    gathered = ''
    bytes = 0
    if (text !== '') write(text)
  }
  return {
    write(line) {
      const more = Buffer.byteLength(line)
      if (bytes + more > maxBytes) flush()
      if (gathered === '') setImmediate(flush)
      gathered += line
      bytes += more
    },
    flush,
  }
}
