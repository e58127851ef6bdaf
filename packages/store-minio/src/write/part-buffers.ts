import { FileServiceError } from '@holdfast/core'

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

const MiB = 1024 * 1024

/** The most that one upload holds in memory: a part that is gathered, and those on their way. */
export const maxPartMemory = 48 * MiB

/** S3's limit. */
const maxParts = 10_000

/** Up to here, parts are of 8 MiB; files of up to 7.8 GiB need no others. */
const smallParts = 1000

/**
 * The size of the part `number`, in bytes. S3 allows 10,000 parts, and all but the last have at least 5 MiB; of 8 MiB
 * they would end at 78 GiB. Later parts are of 24 MiB, of which two fit into memory: a file may have 218 GiB.
 *
 * @throws FileServiceError `file-too-large` beyond the last part
 */
export function partSize(number: number): number {
  if (number > maxParts) {
    throw new FileServiceError('file-too-large', 'The file is larger than one object can be')
  }
  return number <= smallParts ? 8 * MiB : 24 * MiB
}
