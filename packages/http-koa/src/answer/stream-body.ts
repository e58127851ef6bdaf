import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { awaitFirstChunk } from './await-first-chunk.ts'
import { isClosed } from '../exchange/is-closed.ts'

/**
 * Answers with `content`, and calls `release`, once or twice, when that has been sent or the client has left. Resolves
 * when the first chunk is there: a fault before it rejects, while it can still be answered; one behind it cuts the
 * connection.
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
  // Content whose client leaves before the first byte is never iterated, and so cannot release anything itself.
  if (isClosed(res)) releaseNow()
  res.once('close', releaseNow)
  try {
    const ready = await awaitFirstChunk(content)
    const body = ready instanceof Readable ? ready : toStream(ready)
    // Koa destroys it when the client leaves.
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
