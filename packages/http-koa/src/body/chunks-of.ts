import { finished, type Readable } from 'node:stream'

/** Streams whose rest is not wanted. */
const discarded = new WeakSet<Readable>()

/** Reads the rest of `stream` and drops it, even while a reader of {@link chunksOf} has stopped and still waits for a chunk. */
export function discardRest(stream: Readable): void {
  discarded.add(stream)
  stream.resume()
}

/**
 * The chunks of `stream` as they have arrived, each after the one before has been processed; throws the error of
 * `brokenOff` if the stream does not end properly. (The stream's own iterator would copy waiting chunks into one.) A reader
 * that stops early leaves the stream paused and alive, since its source could wait for ever for a destroyed one. At the
 * end, `atEnd` is called with the number of bytes; the reader gets what it throws.
 */
export async function* chunksOf(
  stream: Readable,
  brokenOff: () => Error,
  atEnd: (size: number) => void = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  // More than one only where something else reads the stream as well, and has resumed it.
  const arrived: Buffer[] = []
  let size = 0
  let ended: { readonly error: unknown } | undefined
  let wake = () => {}
  const take = (chunk: Buffer) => {
    if (discarded.has(stream)) return
    stream.pause()
    arrived.push(chunk)
    size += chunk.length
    wake()
  }
  const forget = finished(stream, { writable: false }, (error) => {
    ended = { error }
    wake()
  })
  stream.on('data', take)
  try {
    while (true) {
      const chunk = arrived.shift()
      if (chunk) {
        yield chunk
      } else if (ended) {
        if (ended.error) throw brokenOff()
        return atEnd(size)
      } else {
        const change = new Promise<void>((resolve) => (wake = resolve))
        stream.resume()
        await change
      }
    }
  } finally {
    stream.off('data', take)
    if (!discarded.has(stream)) stream.pause()
    forget()
  }
}
