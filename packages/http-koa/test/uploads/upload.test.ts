import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { createFileService, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { createApp } from '../../src/app.ts'
import { createHttpServer } from '../../src/server/http-server.ts'

/** A store that, like one on a disk, clears up behind a failed put before it tells. */
function createTidyingStore(): BlobStore {
  const store = createMemoryBlobStore()
  return {
    ...store,
    async put(...put) {
      try {
        return await store.put(...put)
      } catch (error) {
        for (let i = 0; i < 50; i++) await turn()
        throw error
      }
    },
  }
}

describe('prepareUpload', () => {
  it('answers with why the upload was refused, however long the store takes to clear up', async () => {
    const service = createFileService({ store: createTidyingStore(), maxFileSize: 10 })
    const app = createApp(service, { authenticate: async () => service.filesOf({ name: 'demo' }) })
    const server = createHttpServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const form = new FormData()
      form.append('file', new Blob([Buffer.alloc(100_000)]), 'large.bin')
      const { port } = server.address() as AddressInfo
      const response = await fetch(`http://127.0.0.1:${port}/upload`, {
        method: 'POST',
        body: form,
      })
      expect(await response.json()).to.include({ statusCode: 413, message: 'File too large' })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
