import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import type { Engine } from '../src/index.ts'
import { createSharedUploadCounter } from '../src/quotas/unfinished-uploads.ts'
import { openEngines } from './shared-engines.ts'

describe('createSharedUploadCounter', () => {
  it('lists again where the engine may have lost data during a list', async () => {
    const all = await openEngines(1)
    try {
      let history = 'first'
      let lists = 0
      const memory = createMemoryBlobStore()
      if (memory.resumable === undefined) throw new TypeError('The store has no uploads in pieces')
      const store: BlobStore = {
        ...memory,
        resumable: {
          ...memory.resumable,
          async *list(customer) {
            lists++
            history = 'second'
            yield* memory.resumable?.list(customer) ?? []
          },
        },
      }
      const engine: Engine = { ...all.engine(0), history: () => history }
      const counter = createSharedUploadCounter(engine, store, () => performance.now())
      await counter.begin('alice', 10, async () => ({ id: 'upload' }))
      expect(lists).to.equal(2)
    } finally {
      await all.close()
    }
  })
})
