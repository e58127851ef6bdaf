import { Readable, type Writable } from 'node:stream'

/**
 * A stream of `content`, whose chunks may be overwritten once the next one is asked for or `content` is closed. Piped, as
 * Koa does it, it asks for the next chunk only when the system has taken the last, and copies nothing. Read in any other
 * way, it copies.
 */
export function createPumpedBody(content: AsyncIterable<Uint8Array>): Readable {
  const body = Readable.from(copying(content), { objectMode: false })
  const pipe = <Destination extends Writable>(
    destination: Destination,
    { end = true }: { readonly end?: boolean } = {},
  ): Destination => {
    if (end) body.once('end', () => destination.end())
    pump(content, destination).then(
      (isComplete) => {
        // The stream itself is not read, so it ends here.
        if (isComplete) body.resume().push(null)
      },
      (error: unknown) => {
        body.destroy(error instanceof Error ? error : new Error(String(error)))
      },
    )
    return destination
  }
  // For the type's sake: any stream that can be written to can be piped into.
  return Object.assign(body, { pipe: pipe as Readable['pipe'] })
}

async function* copying(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) yield Uint8Array.from(chunk)
}

/** Resolves when everything is written, or with `false` when the reader has left; `content` is closed then. */
async function pump(content: AsyncIterable<Uint8Array>, destination: Writable): Promise<boolean> {
  let isLeft = destination.destroyed
  const hasLeft = () => isLeft
  let goOn = () => {}
  destination.once('close', () => {
    isLeft = true
    goOn()
  })
  for await (const chunk of content) {
    if (hasLeft()) return false
    await new Promise<void>((resolve) => {
      goOn = resolve
      destination.write(chunk, () => resolve())
    })
    // After the client has left, the content must not be asked for another chunk.
    if (hasLeft()) return false
  }
  return true
}
