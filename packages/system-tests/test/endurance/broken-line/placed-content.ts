import { createCipheriv } from 'node:crypto'

const blockSize = 16
const chunkSize = 64 * 1024
const key = Buffer.alloc(blockSize, 1)

/** The bytes of a large content from `begin` to `end`, made as they are read; each place has its own, the same in every run. */
export function* placedContent(begin: number, end: number): Generator<Buffer> {
  const first = Math.floor(begin / blockSize)
  // The counter of the cipher's mode says where its stream goes on.
  const counter = Buffer.alloc(blockSize)
  counter.writeUInt32BE(first, blockSize - 4)
  const cipher = createCipheriv('aes-128-ctr', key, counter)
  cipher.update(Buffer.alloc(begin - first * blockSize))
  const zeros = Buffer.alloc(chunkSize)
  for (let at = begin; at < end; at += chunkSize) {
    yield cipher.update(zeros.subarray(0, Math.min(chunkSize, end - at)))
  }
}
