import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient } from '@holdfast/client'
import { createFileService, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'

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

async function useClient(url: string): Promise<void> {
  const client = createClient({ url, name: 'demo', password: 'sesame' })
  const content = new Uint8Array(17 * 1024 ** 2).map((_, at) => at % 251)
  const chunks = async function* () {
    for (let at = 0; at < content.length; at += 2 ** 20) yield content.subarray(at, at + 2 ** 20)
  }
  await client.upload('grüße.txt', 'small')
  await client.upload('large', new Blob([content]))
  await client.upload('stream', chunks())
  for (const name of ['large', 'stream']) {
    const bytes = await (await client.download(name, { start: 1 })).bytes()
    expect(Buffer.compare(bytes, content.subarray(1))).to.equal(0)
  }
  const many = ['many 1', 'many 2'].map((name) => ({ name, body: content.subarray(0, 50_000) }))
  for await (const { error } of client.uploadMany(many)) expect(error).to.equal(undefined)
  const names: string[] = []
  for await (const name of client.list()) names.push(name)
  expect(names).to.deep.equal(['grüße.txt', 'large', 'many 1', 'many 2', 'stream'])
  const codes: unknown[] = []
  const note = (error: unknown) =>
    void codes.push(error instanceof Error && 'code' in error && error.code)
  await client.upload('large', 'x', { createOnly: true }).catch(note)
  await client.delete('large')
  await client.download('large').catch(note)
  expect(codes).to.deep.equal(['already-exists', 'not-found'])
}

describe('createHttpServer', () => {
  it('takes an upload, lists, serves and deletes on the memory store', () =>
    serving(createMemoryBlobStore(), useEverything))

  it('takes an upload, lists, serves and deletes on the disk store', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    try {
      await serving(store, useEverything)
    } finally {
      await store.close()
    }
  })
})

describe('createClient', () => {
  it('uploads, lists, downloads and deletes', () => serving(createMemoryBlobStore(), useClient))
})
