import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'

/** A store with one blob under every name, made as it is read, which counts what is read of it. */
export interface GeneratedStore extends BlobStore {
  /** Bytes that have been asked for. */
  readonly pulled: () => number
  /** Blobs that are open. */
  readonly open: BlobStore['open']
  readonly opened: () => number
  readonly closed: () => number
}

export interface GeneratedBlob {
  /** Bytes. */
  readonly size: number
  /** What reading fails with after `failAfter` bytes. Default: it does not. */
  readonly failure?: Error
  readonly failAfter?: number
  /** What opening waits for. Default: nothing. */
  readonly beforeOpen?: () => Promise<unknown>
}

const chunk = Buffer.alloc(64 * 1024, 'x')

export function generateStore({
  size,
  failure,
  failAfter = 0,
  beforeOpen = async () => {},
}: GeneratedBlob): GeneratedStore {
  let pulled = 0
  let opened = 0
  let closed = 0

  async function* generate(close: () => Promise<void>) {
    try {
      for (let offset = 0; offset < size; offset += chunk.length) {
        if (failure && offset >= failAfter) throw failure
        const bytes = chunk.subarray(0, size - offset)
        pulled += bytes.length
        yield bytes
      }
    } finally {
      await close()
    }
  }

  const infoOf = (name: string) => ({ name, size, modifiedAt: new Date(0), etag: 'tag' })

  return {
    ...createMemoryBlobStore(),
    pulled: () => pulled,
    opened: () => opened,
    closed: () => closed,
    stat: async ({ name }) => infoOf(name),
    async open({ name }) {
      await beforeOpen()
      opened++
      let isOpen = true
      const close = async () => {
        if (isOpen) closed++
        isOpen = false
      }
      const info = infoOf(name)
      return { info, range: { offset: 0, length: size }, content: generate(close), close }
    },
  }
}
