import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createFileService, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { expect } from 'chai'
import { makeTemporaryDirectory } from '../../../../store-disk/test/temporary-directory.ts'

const headers = { 'x-auth-name': 'demo', 'x-auth-password': 'sesame' }
const large = new Uint8Array(3 * 1024 ** 2).map((_, at) => at % 251)

async function serving(store: BlobStore, use: (origin: string) => Promise<void>): Promise<void> {
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }]),
    verifyPassword: async (password, hash) => password === hash,
  })
  const server = createHttpServer(createApp(service)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function useEverything(origin: string): Promise<void> {
  const ask = async (method: string, path: string, body?: FormData | Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(origin + path, { method, headers, ...(body && { body }) })
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
  }
  const text = ({ bytes }: { bytes: Uint8Array }) => new TextDecoder().decode(bytes)

  const form = new FormData()
  form.append('file', new Blob(['small']), 'grüße.txt')
  expect(text(await ask('POST', '/upload', form))).to.equal('OK')
  expect(text(await ask('PUT', '/upload/large', large))).to.equal('OK')
  expect(JSON.parse(text(await ask('GET', '/list')))).to.deep.equal(['grüße.txt', 'large'])
  expect(text(await ask('GET', `/serve/${encodeURIComponent('grüße.txt')}`))).to.equal('small')
  expect((await ask('GET', '/serve/large')).bytes).to.deep.equal(large)
  expect(text(await ask('DELETE', '/delete/large'))).to.equal('OK')
  expect((await ask('GET', '/serve/large')).status).to.equal(400)
}

describe('createHttpServer', () => {
  it('takes an upload, lists, serves and deletes on the memory store', () =>
    serving(createMemoryBlobStore(), useEverything))

  it('takes an upload, lists, serves and deletes on the disk store', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    await serving(store, useEverything).finally(() => store.close())
  })
})
