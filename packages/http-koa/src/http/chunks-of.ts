import { finished, type Readable } from 'node:stream'

/**
 * The chunks of `stream` as they have arrived, each when the one before has been dealt with; throws what `brokenOff`
 * makes where the stream does not come to its end. The stream's own iterator copies those that wait into one, and leaves
 * them to the collector. A reader that stops early leaves the stream paused and alive: whoever feeds it may wait for
 * ever for one that was destroyed.
 */
export async function* chunksOf(
  stream: Readable,
  brokenOff: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let arrived: Buffer | undefined
  let ended: { readonly error: unknown } | undefined
  let wake = () => {}
  const take = (chunk: Buffer) => {
    stream.pause()
    arrived = chunk
    wake()
  }
  const forget = finished(stream, { writable: false }, (error) => {
    ended = { error }
    wake()
  })
  stream.on('data', take)
  try {
    while (true) {
      if (arrived) {
        const chunk = arrived
        arrived = undefined
        yield chunk
      } else if (ended) {
        if (ended.error) throw brokenOff()
        return
      } else {
        const change = new Promise<void>((resolve) => (wake = resolve))
        stream.resume()
        await change
      }
    }
  } finally {
    stream.off('data', take).pause()
    forget()
  }
}
