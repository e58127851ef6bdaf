import { Readable, type Writable } from 'node:stream'

/**
 * A stream of `content`, whose chunks may be overwritten once the next one is asked for. Piped, as Koa does it, it asks
 * for the next chunk only when the system has taken the last, and copies nothing. Read in any other way, it copies.
 */
export function createPumpedBody(content: AsyncIterable<Uint8Array>): Readable {
  const body = Readable.from(copying(content), { objectMode: false })
  const pipe = <Destination extends Writable>(destination: Destination): Destination => {
    pump(content, destination).catch((error: unknown) => {
      body.destroy(error instanceof Error ? error : new Error(String(error)))
    })
    return destination
  }
  // For the type's sake: any stream that can be written to can be piped into.
  return Object.assign(body, { pipe: pipe as Readable['pipe'] })
}

async function* copying(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) yield Uint8Array.from(chunk)
}

/** Resolves when everything is written, or the reader has left; `content` is closed then. */
async function pump(content: AsyncIterable<Uint8Array>, destination: Writable): Promise<void> {
  let isLeft = destination.destroyed
  let goOn = () => {}
  destination.once('close', () => {
    isLeft = true
    goOn()
  })
  for await (const chunk of content) {
    if (isLeft) return
    await new Promise<void>((resolve) => {
      goOn = resolve
      destination.write(chunk, () => resolve())
    })
  }
  destination.end()
}
