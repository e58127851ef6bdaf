import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { useTrustedCertificate } from '@holdfast/testing'
import { expect } from 'chai'
import { expectOk } from './support/answer.ts'
import { formData } from './support/customer-client.ts'
import { startService, type RunningService } from './support/running-service.ts'

const size = 8 * 1024 * 1024
const content = randomBytes(size)

/** Lets go of each chunk once it has copied it, and hands out all chunks in one buffer. */
function miserly(store: BlobStore) {
  const counts = { taken: 0, freed: 0 }
  async function* copying(chunks: AsyncIterable<Uint8Array>, release = (_: Uint8Array) => {}) {
    for await (const chunk of chunks) {
      const copy = Uint8Array.from(chunk)
      release(chunk)
      counts.taken += copy.length
      counts.freed += copy.length - chunk.length
      yield copy
    }
  }
  async function* inOneBuffer(chunks: AsyncIterable<Uint8Array>) {
    const shared = Buffer.alloc(256 * 1024)
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += shared.length) {
        const piece = chunk.subarray(at, at + shared.length)
        shared.fill(0).set(piece)
        yield shared.subarray(0, piece.length)
      }
    }
    shared.fill(0)
  }
  const wrapped: BlobStore = {
    ...store,
    put: (key, chunks, options) => store.put(key, copying(chunks, options?.release), options),
    async open(key, options) {
      const blob = await store.open(key, options)
      return blob && { ...blob, content: inOneBuffer(blob.content) }
    },
  }
  return { counts, wrapped }
}

describe('createHttpsServer, with a store that reuses memory,', () => {
  const certificate = useTrustedCertificate()
  let service: RunningService
  let counts: { taken: number; freed: number }
  beforeEach(async () => {
    const { counts: counted, wrapped } = miserly(createMemoryBlobStore())
    counts = counted
    const openStore = async () => ({
      store: wrapped,
      litter: async () => [],
      close: async () => {},
    })
    service = await startService(openStore, {}, certificate())
  })
  afterEach(() => service[Symbol.asyncDispose]())

  const uploads = {
    'PUT /upload/a': () => service.anna.put('a', content),
    'POST /upload': () => service.anna.upload('a', content),
    'POST /upload/batch': () =>
      service.anna.send('POST', '/upload/batch', { body: formData('a', content) }),
  }
  for (const [route, upload] of Object.entries(uploads)) {
    it(`stores every byte of ${route}, and frees each chunk behind it`, async () => {
      expect((await upload()).status).to.equal(200)
      expect((await service.anna.serve('a')).bytes.equals(content)).to.equal(true)
      expect(counts.taken).to.equal(size)
      expect(counts.freed, 'bytes freed').to.be.above(size / 2)
    })
  }

  it('sends every byte before its buffer is used again, to slow readers at once', async () => {
    expectOk(await service.anna.put('a', content))
    const download = async () => {
      const request = service.request('/serve/a', { headers: service.anna.headers }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) {
        chunks.push(chunk as Buffer)
        // Longer than the server takes to have the next chunk ready.
        if (chunks.length % 8 === 0) await delay(2)
      }
      return Buffer.concat(chunks)
    }
    for (const received of await Promise.all([download(), download(), download()])) {
      expect(received.equals(content)).to.equal(true)
    }
  })
})
