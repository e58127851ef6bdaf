import { createCipheriv, createHash } from 'node:crypto'

/** `size` bytes that look random, and differ for each `seed`. */
export function contentOf(seed: string, size: number): Buffer<ArrayBuffer> {
  const key = createHash('md5').update(seed).digest()
  return Buffer.from(
    createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size)),
  )
}

export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
