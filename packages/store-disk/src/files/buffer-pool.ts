/** Two buffers, one to be filled while the other one is in use. */
export interface BorrowedBuffers {
  /** The one that was not given last, with whatever is in it. */
  readonly next: () => Buffer
  /** Nobody may use either of them from then on. */
  readonly giveBack: () => void
}

export interface BufferPool {
  /** Whatever the limit. */
  borrow(): BorrowedBuffers
  /** A buffer with whatever is in it; `undefined` while as many as there may be are in use. */
  take(): Buffer | undefined
  /** Nobody may use the `buffer`, which was taken here, from then on. */
  give(buffer: Buffer): void
}

/** Lends buffers of `size` bytes, up to `limit` at a time, and keeps up to `kept` of those that are given back. */
export function createBufferPool(size: number, kept: number, limit = Infinity): BufferPool {
  const idle: Buffer[] = []
  let lent = 0
  const lend = () => {
    lent++
    return idle.pop() ?? Buffer.allocUnsafeSlow(size)
  }
  const give = (buffer: Buffer) => {
    lent--
    if (idle.length < kept) idle.push(buffer)
  }

  return {
    borrow() {
      // Taken when they are needed: a small content never needs the second.
      let last: Buffer | undefined
      let other: Buffer | undefined
      return {
        next() {
          const buffer = other ?? lend()
          other = last
          last = buffer
          return buffer
        },
        giveBack() {
          if (last) give(last)
          if (other) give(other)
          last = other = undefined
        },
      }
    },
    take: () => (lent < limit ? lend() : undefined),
    give,
  }
}
