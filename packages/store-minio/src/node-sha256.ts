import { createHash, createHmac } from 'node:crypto'
import type { Checksum, SourceData } from '@smithy/types'

/** SHA-256, or its HMAC where there is a secret, in the shape that the signer asks for: a class. */
export class NodeSha256 implements Checksum {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>

  constructor(secret?: SourceData) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret))
  }

  update(data: SourceData): void {
    this.#hash.update(toBytes(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): never {
    throw new Error('A hash is used once')
  }
}

function toBytes(data: SourceData): string | Uint8Array {
  if (typeof data === 'string') return data
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
}
