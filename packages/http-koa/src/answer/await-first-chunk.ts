import { Readable } from 'node:stream'

/**
 * `content`, once its first chunk or its end is there; rejects where reading that fails. A stream stays the stream that
 * it is, and one that is closed meanwhile is given as it is.
 */
export async function awaitFirstChunk<Chunk>(
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
