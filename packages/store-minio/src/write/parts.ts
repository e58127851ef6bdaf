import { crc32 } from 'node:zlib'
import { requireBytes, FileServiceError } from '@holdfast/core'

/** Some megabytes of content; the receiver releases them once they are sent. */
export interface Part {
  /** From 1. */
  readonly number: number
  readonly bytes: Buffer
  /** Of `bytes`. */
  readonly crc32: number
  /** Whether nothing comes after it: for the first part, this decides how a file is sent. */
  readonly isLast: boolean
  readonly release: () => void
}

/** The sizes through which a buffer grows to the size of a part, so that small files do not count as large ones. */
const smallSizes = [64 * 1024, 1024 * 1024]

/**
 * Cuts `content` into parts, each but the last of `sizeOf(number)` bytes; no content makes one empty part. Requests more of `content` only
 * when the caller requests a part. Copies chunks, since they may be small pieces of large buffers; copied chunks go to `release`.
 */
export async function* gatherParts(
  content: AsyncIterable<Uint8Array>,
  buffers: PartBuffers,
  sizeOf: (number: number) => number,
  release: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<Part, undefined> {
  let part = emptyPart(1)
  try {
    for await (const chunk of content) {
      requireBytes(chunk)
      let rest = chunk
      while (rest.length > 0) {
        if (part.used === sizeOf(part.number)) {
          yield finish(part, false)
          part = emptyPart(part.number + 1)
        }
        await makeRoom(part, rest.length)
        rest = rest.subarray(append(part, rest))
      }
      release(chunk)
    }
    yield finish(part, true)
  } finally {
    releaseBuffer(part)
  }

  async function makeRoom(target: GrowingPart, bytes: number): Promise<void> {
    if (target.used < target.buffer.length) return
    const full = sizeOf(target.number)
    const needed = target.used + bytes
    const size =
      target.number === 1
        ? (smallSizes.find((each) => each >= needed && each < full) ?? full)
        : full
    const isPooled = size === full
    const larger = isPooled ? await buffers.take(size) : Buffer.allocUnsafeSlow(size)
    target.buffer.copy(larger, 0, 0, target.used)
    target.buffer = larger
    target.isPooled = isPooled
  }

  function finish(target: GrowingPart, isLast: boolean): Part {
    const { number, buffer, used, crc } = target
    const isPooled = target.isPooled
    // From here on the receiver owns the buffer.
    target.isPooled = false
    return {
      number,
      bytes: buffer.subarray(0, used),
      crc32: crc,
      isLast,
      release: () => {
        if (isPooled) buffers.give(buffer)
      },
    }
  }

  function releaseBuffer(target: GrowingPart): void {
    if (target.isPooled) buffers.give(target.buffer)
  }
}

/** Copies as much of `bytes` as fits; returns how much. */
function append(part: GrowingPart, bytes: Uint8Array): number {
  const piece = bytes.subarray(0, part.buffer.length - part.used)
  part.buffer.set(piece, part.used)
  // Computed now, while the bytes are in the processor's cache.
  part.crc = crc32(piece, part.crc)
  part.used += piece.length
  return piece.length
}

interface GrowingPart {
  readonly number: number
  buffer: Buffer
  used: number
  /** The CRC-32 of the used bytes. */
  crc: number
  isPooled: boolean
}

function emptyPart(number: number): GrowingPart {
  return { number, buffer: Buffer.alloc(0), used: 0, crc: 0, isPooled: false }
}

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
