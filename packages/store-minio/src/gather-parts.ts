import type { PartBuffers } from './part-buffers.ts'

/** Some megabytes of content, to be given back once they are sent. */
export interface Part {
  /** From 1. */
  readonly number: number
  readonly bytes: Buffer
  /** Nothing comes after it; what the first part says decides how a file is sent. */
  readonly isLast: boolean
  readonly release: () => void
}

/** What a buffer grows through before it has the size of a part, so that small files are not charged for large ones. */
const smallSizes = [64 * 1024, 1024 * 1024]

/**
 * `content` cut into parts, each but the last of `sizeOf(number)` bytes; one empty part for no content. Asks `content`
 * for more only when it is asked itself, and copies, since chunks may be small pieces of large buffers.
 */
export async function* gatherParts(
  content: AsyncIterable<Uint8Array>,
  buffers: PartBuffers,
  sizeOf: (number: number) => number,
): AsyncGenerator<Part, undefined> {
  let part = emptyPart(1)
  try {
    for await (const chunk of content) {
      let rest = chunk
      while (rest.length > 0) {
        if (part.used === sizeOf(part.number)) {
          yield finish(part, false)
          part = emptyPart(part.number + 1)
        }
        await makeRoom(part, rest.length)
        const taken = Math.min(rest.length, part.buffer.length - part.used)
        part.buffer.set(rest.subarray(0, taken), part.used)
        part.used += taken
        rest = rest.subarray(taken)
      }
    }
    yield finish(part, true)
  } finally {
    giveBack(part)
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
    const { number, buffer, used } = target
    const isPooled = target.isPooled
    // From here on the buffer is the receiver's.
    target.isPooled = false
    return {
      number,
      bytes: buffer.subarray(0, used),
      isLast,
      release: () => {
        if (isPooled) buffers.give(buffer)
      },
    }
  }

  function giveBack(target: GrowingPart): void {
    if (target.isPooled) buffers.give(target.buffer)
  }
}

interface GrowingPart {
  readonly number: number
  buffer: Buffer
  used: number
  isPooled: boolean
}

function emptyPart(number: number): GrowingPart {
  return { number, buffer: Buffer.alloc(0), used: 0, isPooled: false }
}
