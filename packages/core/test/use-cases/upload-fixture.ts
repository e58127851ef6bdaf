import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { Customer } from '../../src/model/customer.ts'
import type { UploadContent } from '../../src/model/upload-content.ts'
import { createQuotaKeeper } from '../../src/policy/quota-keeper.ts'
import type { BlobInfo } from '../../src/ports/blob.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { uploadFile, type UploadOptions } from '../../src/use-cases/upload-file.ts'
import { arrayOf, chunks, textOf } from '../content.ts'
import { thrownCode } from '../rejection.ts'

export const alice = { name: 'alice', quota: 100 }

/** Uploads by customers with and without a quota, on one memory store. */
export interface UploadFixture {
  readonly store: BlobStore
  readonly upload: (
    name: string,
    content: UploadContent,
    options?: UploadOptions,
    customer?: Customer,
  ) => Promise<BlobInfo>
  /** Everything that alice keeps: names and content. */
  readonly kept: () => Promise<Record<string, string>>
  /** Throws unless alice may store exactly `bytes` more. */
  readonly expectRoom: (bytes: number) => Promise<void>
}

export function uploadFixture({
  maxFileSize = Infinity,
  ...overrides
}: { maxFileSize?: number } & Partial<BlobStore> = {}): UploadFixture {
  const memory = createMemoryBlobStore()
  const store = { ...memory, ...overrides }
  const quotas = createQuotaKeeper(store, { now: () => 0 })
  const policy = { store, quotas, maxFileSize, keeps: () => false }
  return {
    store: memory,
    upload: (name, content, options, customer = alice) =>
      uploadFile(policy, customer, name, content, options),
    async kept() {
      const names = (await arrayOf(memory.list('alice'))).flat()
      const entries = names.map(async (name) => {
        const file = await memory.open({ customer: 'alice', name })
        return [name, await textOf(file?.content ?? chunks())] as const
      })
      return Object.fromEntries(await Promise.all(entries))
    },
    async expectRoom(bytes) {
      const claim = await quotas.claim(alice, 'a name that no test uses')
      try {
        void claim.grow(bytes)
        expect(
          thrownCode(() => claim.grow(1)),
          'room for more',
        ).to.equal('quota-exceeded')
      } finally {
        claim.end()
      }
    },
  }
}
