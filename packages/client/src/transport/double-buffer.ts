/** Gathers bytes while the reader has the chunk before. */
export interface DoubleBuffer {
  /** Copies bytes of at most one step, and returns whether another step has room. */
  add(bytes: Uint8Array): boolean
  /** What was added since the call before; `undefined` if that is nothing. It is valid until the next call that returns a chunk. */
  take(): Uint8Array | undefined
}

/** @param size of each of the two buffers */
export function createDoubleBuffer(size: number, step: number): DoubleBuffer {
  let filling = new Uint8Array(size)
  let other = new Uint8Array(size)
  let used = 0
  return {
    add(bytes) {
      filling.set(bytes, used)
      used += bytes.length
      return used + step <= size
    },
    take() {
      if (used === 0) return undefined
      const chunk = filling.subarray(0, used)
      ;[filling, other] = [other, filling]
      used = 0
      return chunk
    },
  }
}
