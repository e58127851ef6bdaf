import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { OpenedStore } from './running-service.ts'

/** A new store in memory. */
export async function openMemoryStore(): Promise<OpenedStore> {
  return { store: createMemoryBlobStore(), litter: async () => [], close: async () => {} }
}
