import { Readable, type Writable } from 'node:stream'
import type { Context } from 'koa'
import { isClosed } from '../server/connection.ts'

/**
 * Answers with `content`, and calls `release`, once or twice, when the content was sent or the client has left. Resolves when
 * the first chunk is ready. An error before it rejects, since it can still be answered; an error after it cuts the connection.
 */
export async function streamBody<Chunk extends string | Uint8Array>(
  ctx: Context,
  content: AsyncIterable<Chunk>,
  release: () => Promise<unknown> | undefined,
  toStream: (content: AsyncIterable<Chunk>) => Readable = readAhead,
): Promise<void> {
  const { res } = ctx
  const releaseNow = () => {
    release()?.catch((error: unknown) => ctx.app.emit('error', error, ctx))
  }
  // If the client leaves before the first byte, the content is never iterated, and so cannot release anything itself.
  if (isClosed(res)) releaseNow()
  res.once('close', releaseNow)
  try {
    const ready = await awaitFirstChunk(content)
    const body = ready instanceof Readable ? ready : toStream(ready)
    // Koa destroys the body when the client leaves.
    ctx.body = body.once('close', releaseNow)
  } catch (error) {
    // If the client has left, the release may fail the waiting content; there is no response for that error.
    if (!isClosed(res)) throw error
  } finally {
    res.off('close', releaseNow)
  }
}

function readAhead(content: AsyncIterable<string | Uint8Array>): Readable {
  return Readable.from(content, { objectMode: false })
}

/**
 * Resolves with `content` when its first chunk or its end is ready; rejects if reading that fails. A stream is returned itself,
 * also if it was closed meanwhile.
 */
async function awaitFirstChunk<Chunk>(
  content: AsyncIterable<Chunk>,
): Promise<AsyncIterable<Chunk>> {
  if (content instanceof Readable) {
    await readable(content)
    return content
  }
  const iterator = content[Symbol.asyncIterator]()
  return withFirst(await iterator.next(), iterator)
}

function readable(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('readable', resolve).once('close', resolve).once('error', reject)
  })
}

function withFirst<Chunk>(
  first: IteratorResult<Chunk, unknown>,
  rest: AsyncIterator<Chunk, unknown>,
): AsyncIterable<Chunk> {
  let next: IteratorResult<Chunk, unknown> | undefined = first
  const iterator: AsyncIterator<Chunk, unknown> = {
    next: async () => {
      const step = next ?? (await rest.next())
      next = undefined
      return step
    },
    return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/**
 * A stream of `content`, whose source may overwrite a chunk when the next one is asked for or `content` is closed. If the stream
 * is piped, as by Koa, it asks for the next chunk only when the system has taken the last one, and copies nothing. If it is read
 * in any other way, it copies each chunk.
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
        // A piped stream is not read itself, so end it here.
        if (isComplete) body.resume().push(null)
      },
      (error: unknown) => {
        body.destroy(error instanceof Error ? error : new Error(String(error)))
      },
    )
    return destination
  }
  // The cast is for the type of `pipe` only: this one takes any writable stream.
  return Object.assign(body, { pipe: pipe as Readable['pipe'] })
}

async function* copying(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) yield Uint8Array.from(chunk)
}

/** Writes `content` to `destination`. Resolves with `false` if the reader has left; `content` is closed then. */
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
    // The client may have left during the write; then no further chunk may be asked for.
    if (hasLeft()) return false
  }
  return true
}
