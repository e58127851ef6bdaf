/** How many bytes all uploads of a store may hold in buffers together, beyond the one that each may always have. */
export interface BufferBudget {
  /** A buffer of `size` bytes, maybe used before; `undefined` when the budget is used up and `isFirst` is not set. */
  take(size: number, isFirst: boolean): Buffer | undefined
  give(buffer: Buffer): void
}

/** How many idle buffers are kept, enough for one upload: a new one costs as much as filling it. */
const mostIdle = 6

export function createBufferBudget(limit: number): BufferBudget {
  const idle: Buffer[] = []
  let used = 0
  return {
    take(size, isFirst) {
      if (!isFirst && used + size > limit) return undefined
      used += size
      const index = idle.findIndex((buffer) => buffer.length === size)
      return index < 0 ? Buffer.allocUnsafeSlow(size) : idle.splice(index, 1)[0]
    },
    give(buffer) {
      used -= buffer.length
      if (idle.length < mostIdle) idle.push(buffer)
    },
  }
}

/** The buffers of one upload. */
export interface PartBuffers {
  /** A buffer of `size` bytes; waits while there is none for one that this upload gives back. */
  take(size: number): Promise<Buffer>
  give(buffer: Buffer): void
}

/** At most `limit` bytes of `budget`; one buffer is always to be had, so that uploads never wait for each other. */
export function createPartBuffers(budget: BufferBudget, limit: number): PartBuffers {
  let held = 0
  let wake = () => {}
  const tryTake = (size: number) => {
    if (held > 0 && held + size > limit) return undefined
    const buffer = budget.take(size, held === 0)
    if (buffer) held += size
    return buffer
  }
  return {
    async take(size) {
      for (;;) {
        const buffer = tryTake(size)
        if (buffer) return buffer
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    give(buffer) {
      held -= buffer.length
      budget.give(buffer)
      wake()
    },
  }
}
