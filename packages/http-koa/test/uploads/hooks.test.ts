import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { BlobStore, FileHooks } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { filePart, form, formType } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

/** With the bytes at hand as well, by which a plain GET is answered before the application. */
function inMemory(store: BlobStore): BlobStore {
  return {
    ...store,
    async open(key, options) {
      const blob = await store.open(key, options)
      if (!blob) return undefined
      const chunks: Uint8Array[] = []
      for await (const chunk of blob.content) chunks.push(chunk)
      return { ...blob, bytes: Buffer.concat(chunks) }
    },
  }
}

describe('Hooks behind HTTP', () => {
  for (const [kind, store] of [
    ['streams', createMemoryBlobStore()],
    ['has bytes at hand', inMemory(createMemoryBlobStore())],
  ] as const) {
    it(`get what clients have done, on a store that ${kind}`, async () => {
      const told: string[] = []
      const hooks: FileHooks = {
        onUploaded: ({ file }) => told.push(`uploaded ${file.name}, ${file.size}`),
        onServed: ({ file, range, bytes }) =>
          told.push(`served ${file.name}, ${range.offset}+${range.length}, ${bytes}`),
        onDeleted: ({ name }) => told.push(`deleted ${name}`),
      }
      await using app = await runApp({ hooks, store })
      const ask = async (method: string, path: string, headers = {}, body?: string) => {
        const answer = await fetch(`http://127.0.0.1:${app.port}${path}`, {
          method,
          headers: { ...auth, ...headers },
          ...(body !== undefined && { body }),
        })
        await answer.arrayBuffer()
        return answer
      }
      const expectTold = async (...lines: readonly string[]) => {
        await until('the hooks were told', () => told.length >= lines.length)
        expect(told.splice(0)).to.deep.equal(lines)
      }

      await ask('POST', '/upload', { 'Content-Type': formType }, form(filePart('a', '0123456789')))
      await expectTold('uploaded a, 10')
      await ask('PUT', '/upload/b', {}, '12345')
      await expectTold('uploaded b, 5')
      const parts = form(filePart('c', '1'), filePart('d', '12'))
      await ask('POST', '/upload/batch', { 'Content-Type': formType }, parts)
      await expectTold('uploaded c, 1', 'uploaded d, 2')

      const { headers } = await ask('GET', '/serve/a')
      await expectTold('served a, 0+10, 10')
      await ask('GET', '/serve/a', { Range: 'bytes=2-4' })
      await expectTold('served a, 2+3, 3')

      expect((await ask('HEAD', '/serve/a')).status).to.equal(200)
      const known = { 'If-None-Match': headers.get('etag') ?? '' }
      expect((await ask('GET', '/serve/a', known)).status).to.equal(304)
      expect((await ask('GET', '/serve/a', { Range: 'bytes=99-' })).status).to.equal(416)
      expect((await ask('GET', '/serve/x')).status).to.equal(400)
      expect((await ask('GET', '/list')).status).to.equal(200)
      expect((await ask('DELETE', '/delete/x')).status).to.equal(400)
      expect((await ask('PUT', '/upload/a', { 'If-None-Match': '*' }, 'x')).status).to.equal(412)

      await ask('DELETE', '/delete/a')
      await expectTold('deleted a')
    })
  }
})
