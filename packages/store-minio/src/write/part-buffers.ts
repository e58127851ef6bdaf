import { FileServiceError } from '@holdfast/core'

/** Limits the bytes that all uploads of a store hold in buffers together; each upload may always have one buffer more. */
export interface BufferBudget {
  /** A buffer of `size` bytes, perhaps used before; `undefined` if the budget is used up and `isFirst` is not set. */
  take(size: number, isFirst: boolean): Buffer | undefined
  give(buffer: Buffer): void
}

/** The most idle buffers that are kept, enough for one upload: a new one costs as much as filling it. */
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
  /** A buffer of `size` bytes; if there is none, waits until this upload gives one back. */
  take(size: number): Promise<Buffer>
  give(buffer: Buffer): void
}

/** At most `limit` bytes of `budget`. One buffer is always available, so that uploads never wait for each other. */
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

/** The most bytes that one upload holds in memory: the part that is gathered, and those being sent. */
export const maxPartMemory = 48 * MiB

/** S3's limit. */
const maxParts = 10_000

/** The first so many parts are of 8 MiB; files of up to 7.8 GiB need no others. */
const smallParts = 1000

/**
 * The size of the part `number`, in bytes. S3 allows 10,000 parts; all but the last have at least 5 MiB. With parts of 8 MiB a file could
 * have only 78 GiB. Later parts are of 24 MiB, of which two fit into memory: a file may have 218 GiB.
 *
 * @throws FileServiceError `file-too-large` beyond the last part
 */
export function partSize(number: number): number {
  if (number > maxParts) {
    throw new FileServiceError('file-too-large', 'The file is larger than one object can be')
  }
  return number <= smallParts ? 8 * MiB : 24 * MiB
}
