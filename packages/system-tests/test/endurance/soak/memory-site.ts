import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { startService } from '../../black-box/support/running-service.ts'
import type { OpenSoakSite } from './soak-site.ts'

/** What a flaw puts in the place of a store's methods. */
export type Flaw = (store: BlobStore) => Partial<BlobStore>

/** Servers in this process, on one store in memory with a flaw. */
export function openMemorySite(
  breakIt: Flaw,
  { isForgetful = false, litter = [] }: { isForgetful?: boolean; litter?: string[] } = {},
): OpenSoakSite {
  return async (customers) => {
    const store = createMemoryBlobStore()
    return {
      async start() {
        const life = { isOver: false }
        const mortal = untilOver(store, life)
        const opened = { store: mortal, litter: async () => [], close: async () => {} }
        const service = await startService(async () => opened, {
          customers,
          wrap: (sound) => ({ ...sound, ...breakIt(sound) }),
        })
        const gone = Promise.withResolvers<number>()
        const stop = async () => {
          life.isOver = true
          await service[Symbol.asyncDispose]()
          if (isForgetful) await removeAll(store)
          gone.resolve(0)
          return 0
        }
        return {
          url: service.url,
          kill: async () => {
            await stop()
          },
          stop,
          ended: gone.promise,
        }
      },
      async problems(bytes) {
        const wrong = [...bytes].map(async ([customer, expected]) => {
          const { bytes: kept } = await store.usage(customer)
          return kept === expected ? [] : [`${customer} keeps ${kept} of ${expected}`]
        })
        return [...litter, ...(await Promise.all(wrong)).flat()]
      },
      remove: async () => {},
    }
  }
}

async function removeAll(store: BlobStore): Promise<void> {
  for await (const customer of store.customers()) {
    for await (const names of store.list(customer)) {
      for (const name of names) await store.delete({ customer, name })
    }
  }
}

/** `store`, which stores and deletes nothing any more once `life` is over: requests of a server in this process go on. */
function untilOver(store: BlobStore, life: { readonly isOver: boolean }): BlobStore {
  const live = () => {
    if (life.isOver) throw new Error('The server is gone')
  }
  return {
    ...store,
    async put(key, content, options) {
      live()
      return store.put(key, followedBy(live, content), options)
    },
    async delete(key) {
      live()
      return store.delete(key)
    },
  }
}

async function* followedBy(check: () => void, content: AsyncIterable<Uint8Array>) {
  yield* content
  check()
}
