/** The given chunks, as they are. A number stands for so many bytes, a string for its UTF-8. */
export async function* chunks(...parts: readonly (Uint8Array | string | number)[]) {
  for (const part of parts) {
    yield typeof part === 'number' ? new Uint8Array(part) : new Uint8Array(Buffer.from(part))
  }
}

/** Yields the given chunks and then throws `error`. */
export async function* failing(error: Error, ...parts: readonly (string | number)[]) {
  yield* chunks(...parts)
  throw error
}

/** All of `content` as text. */
export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await arrayOf(content)).toString()
}

/** Everything that `content` yields. */
export async function arrayOf<T>(content: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of content) all.push(one)
  return all
}

/** Content that yields what it is told to, when it is told to, and tells how it was used. */
export interface PulledContent extends AsyncIterable<Uint8Array> {
  /** How many chunks were asked for. */
  readonly asked: () => number
  /** How often its iterator was closed. */
  readonly closed: () => number
  /** Answers the oldest unanswered request with a chunk of so many bytes. */
  readonly give: (size: number) => void
  /** Answers the oldest unanswered request with the end. */
  readonly finish: () => void
}

/** Content that stalls until `give` or `finish` is called; closing it does not wake it. */
export function pulled(): PulledContent {
  const waiting: ((step: IteratorResult<Uint8Array, undefined>) => void)[] = []
  let asked = 0
  let closed = 0
  const answer = (step: IteratorResult<Uint8Array, undefined>) => {
    const resolve = waiting.shift()
    if (!resolve) throw new Error('Nobody has asked for a chunk')
    resolve(step)
  }
  return {
    asked: () => asked,
    closed: () => closed,
    give: (size) => answer({ done: false, value: new Uint8Array(size) }),
    finish: () => answer({ done: true, value: undefined }),
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked++
        return new Promise((resolve) => waiting.push(resolve))
      },
      return: async () => {
        closed++
        return { done: true, value: undefined }
      },
    }),
  }
}
