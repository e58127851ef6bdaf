import { crc32 } from 'node:zlib'
import { requireBytes } from '@holdfast/core'
import type { PartBuffers } from './part-buffers.ts'

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
