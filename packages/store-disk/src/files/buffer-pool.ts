/** Two buffers, one to be filled while the other one is in use. */
export interface BorrowedBuffers {
  /** Gives the two buffers in alternation, with their old content. */
  readonly next: () => Buffer
  /** Returns both to the pool; no one may use them afterwards. */
  readonly release: () => void
}

export interface BufferPool {
  /** Ignores the limit. */
  borrow(): BorrowedBuffers
  /** A buffer with its old content; `undefined` while `limit` buffers are in use. */
  take(): Buffer | undefined
  /** Returns a `buffer` that was taken here; no one may use it afterwards. */
  give(buffer: Buffer): void
}

/**
 * Makes a pool of buffers of `size` bytes. At most `limit` are in use at a time; up to `kept` unused ones stay in
 * memory.
 */
export function createBufferPool(size: number, kept: number, limit = Infinity): BufferPool {
  const idle: Buffer[] = []
  let used = 0
  const borrowOne = () => {
    used++
    return idle.pop() ?? Buffer.allocUnsafeSlow(size)
  }
  const give = (buffer: Buffer) => {
    used--
    if (idle.length < kept) idle.push(buffer)
  }

  return {
    borrow() {
      // Each is taken when it is first needed: a small content never needs the second.
      let last: Buffer | undefined
      let other: Buffer | undefined
      return {
        next() {
          const buffer = other ?? borrowOne()
          other = last
          last = buffer
          return buffer
        },
        release() {
          if (last) give(last)
          if (other) give(other)
          last = other = undefined
        },
      }
    },
    take: () => (used < limit ? borrowOne() : undefined),
    give,
  }
}
