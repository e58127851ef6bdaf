import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFileService, FileServiceError, type CustomerFiles } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import express from 'express'
import Koa from 'koa'
import { Upload } from 'tus-js-client'
import { createTusHandler, type TusHandler } from '../src/tus-handler.ts'

const service = () =>
  createFileService({
    store: createMemoryBlobStore(),
    maxFileSize: 50_000_000,
    createSha256: () => createHash('sha256'),
  })

/** How an application passes requests below `/uploads` on. */
const applications: Readonly<Record<string, (tus: TusHandler) => RequestListener>> = {
  'node:http': (tus) => (request, response) => void tus(request, response),
  Express: (tus) => express().use('/uploads', (request, response) => tus(request, response)),
  Koa(tus) {
    const answer = new Koa()
      .use((ctx) => {
        ctx.respond = false
        return tus(ctx.req, ctx.res)
      })
      .callback()
    return (request, response) => void answer(request, response)
  },
}

interface Running {
  readonly endpoint: string
  readonly files: CustomerFiles
  readonly faults: unknown[]
  [Symbol.asyncDispose](): Promise<void>
}

async function run(
  listener: (tus: TusHandler) => RequestListener = (tus) => (request, response) =>
    void tus(request, response),
  options: Partial<Parameters<typeof createTusHandler>[0]> = {},
): Promise<Running> {
  const files = service().filesOf({ name: 'demo' })
  const faults: unknown[] = []
  const tus = createTusHandler({
    path: '/uploads',
    filesOf: () => files,
    maxFileSize: 50_000_000,
    onFault: (error) => void faults.push(error),
    ...options,
  })
  const server = createServer(listener(tus)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}/uploads`,
    files,
    faults,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const protocol = { 'Tus-Resumable': '1.0.0' }
const named = { 'Upload-Metadata': `filename ${btoa('a.txt')}` }
const piece = { ...protocol, 'Content-Type': 'application/offset+octet-stream' }

/** Uploads `content` by tus-js-client in pieces of `chunkSize`; a client goes on with `uploadUrl` where there is one. */
function upload(
  endpoint: string,
  content: Buffer,
  options: ConstructorParameters<typeof Upload>[1] = {},
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const started: Upload = new Upload(content, {
      endpoint,
      metadata: { filename: 'big.bin', filetype: 'application/octet-stream' },
      retryDelays: null,
      onError: reject,
      onSuccess: () => resolve(started),
      ...options,
    })
    started.start()
  })
}

async function bytesOf(files: CustomerFiles, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await files.serve(name)).content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** How far the only upload is; does not end an append, as a question for its state does. */
async function offsetOf(files: CustomerFiles): Promise<number | undefined> {
  for await (const [upload] of files.resumable?.list() ?? []) return upload?.offset
  return undefined
}

for (const [kind, listener] of Object.entries(applications)) {
  describe(`createTusHandler in ${kind}`, () => {
    const content = Buffer.alloc(3_000_000, 'holdfast')

    for (const [what, options] of [
      ['at once', {}],
      ['in pieces', { chunkSize: 700_000 }],
      ['with the first piece', { chunkSize: 700_000, uploadDataDuringCreation: true }],
      ['by POST alone', { overridePatchMethod: true }],
    ] as const) {
      it(`takes a file from tus-js-client ${what}`, async () => {
        await using app = await run(listener)
        await upload(app.endpoint, content, options)
        expect((await bytesOf(app.files, 'big.bin')).equals(content)).to.equal(true)
        expect(app.faults).to.deep.equal([])
      })
    }

    it('lets tus-js-client go on where another one stopped', async () => {
      await using app = await run(listener)
      const uploadUrl = await new Promise<string>((resolve, reject) => {
        const first: Upload = new Upload(content, {
          endpoint: app.endpoint,
          metadata: { filename: 'big.bin' },
          chunkSize: 700_000,
          retryDelays: null,
          onError: reject,
          onChunkComplete: () => void first.abort().then(() => resolve(first.url ?? ''), reject),
        })
        first.start()
      })
      await upload(app.endpoint, content, { uploadUrl })
      expect((await bytesOf(app.files, 'big.bin')).equals(content)).to.equal(true)
    })
  })
}

describe('createTusHandler', () => {
  it('answers errors in the form of holdfast', async () => {
    await using app = await run()
    for (const [method, path, headers, status, message] of [
      [
        'POST',
        '',
        { ...protocol, 'Upload-Length': '5' },
        400,
        'No filename. Use Upload-Metadata: filename <base64>',
      ],
      ['POST', '', { ...protocol, ...named, 'Upload-Length': '50000001' }, 413, 'File too large'],
      ['POST', '', { 'Upload-Length': '5' }, 412, 'Tus-Resumable must be 1.0.0'],
      ['PATCH', '/0123456789abcdef', { ...piece, 'Upload-Offset': '0' }, 404, 'Upload not found'],
      [
        'PATCH',
        '/0123456789abcdef',
        protocol,
        415,
        'Content-Type must be application/offset+octet-stream',
      ],
      ['GET', '', protocol, 405, 'Method not allowed. Use POST, OPTIONS'],
      ['POST', 'elsewhere', protocol, 404, 'Not Found'],
    ] as const) {
      const answer = await fetch(`${app.endpoint}${path}`, { method, headers })
      expect(answer.status).to.equal(status)
      expect(answer.headers.get('tus-resumable')).to.equal('1.0.0')
      expect(await answer.json()).to.include({ statusCode: status, message })
    }
    expect(app.faults).to.deep.equal([])
  })

  it('refuses who is refused by filesOf, and reports faults', async () => {
    const refusals = [
      [new FileServiceError('too-many-attempts', 'Wait', { retryAfterMs: 2000 }), 429],
      [new FileServiceError('store-unavailable', 'The disk is on fire'), 503],
      [Object.assign(new Error('Log in'), { status: 401, headers: { 'X-Why': 1 } }), 401],
      [new Error('a secret'), 500],
    ] as const
    for (const [error, status] of refusals) {
      await using app = await run(undefined, { filesOf: () => Promise.reject(error) })
      const answer = await fetch(app.endpoint, { method: 'POST', headers: protocol, body: 'x' })
      expect(answer.status).to.equal(status)
      expect(await answer.text()).not.to.match(/secret|fire/)
    }
  })

  it('answers even where what the application gives it cannot be sent, or its log fails', async () => {
    const bad = { status: 401, headers: { 'X-Why': 'two\nlines' } }
    const unprintable = { status: 401, headers: { 'X-Why': Object.create(null) as object } }
    const refuses = () => Promise.reject(Object.assign(new Error('Log in'), bad))
    const failing = [
      { filesOf: refuses },
      { location: () => 'two\nlines' },
      { filesOf: refuses, onFault: () => expect.fail('a log that fails') },
      { filesOf: refuses, onFault: () => Promise.reject(new Error('a log that fails')) },
      { filesOf: () => Promise.reject(Object.assign(new Error(), unprintable)) },
    ]
    for (const options of failing) {
      let outcome: Promise<void> | undefined
      await using app = await run(
        (tus) => (request, response) => void (outcome = tus(request, response)),
        options,
      )
      const headers = { ...protocol, ...named, 'Upload-Length': '0' }
      const answer = await fetch(app.endpoint, { method: 'POST', headers })
      expect(answer.status).to.equal(500)
      expect(await answer.json()).to.include({ message: 'An unexpected error occurred' })
      await outcome
      expect(app.faults).to.have.length('onFault' in options ? 0 : 1)
    }
  })

  it('reports no fault when the client leaves, and keeps what came', async () => {
    const over = Promise.withResolvers<undefined>()
    await using app = await run(
      (tus) => (request, response) =>
        void tus(request, response).then(() => over.resolve(undefined)),
    )
    const { resumable } = app.files
    const begun = await resumable?.begin('a.txt', { length: 5 })
    const id = begun?.id ?? ''
    const headers = { ...piece, 'Upload-Offset': '0', 'Content-Length': '5' }
    const sending = request(`${app.endpoint}/${id}`, { method: 'PATCH', headers })
    sending.on('error', () => {}).write('Hel')
    await until('the store has what came', async () => (await offsetOf(app.files)) === 3)
    sending.destroy()
    await over.promise
    expect(app.faults).to.deep.equal([])
    expect((await resumable?.state(id))?.offset).to.equal(3)
  })

  it('closes the connection where no answer can be sent', async () => {
    let outcome: Promise<void> | undefined
    await using app = await run((tus) => (request, response) => {
      response.writeHead = () => expect.fail('another part of the application has broken it')
      outcome = tus(request, response)
    })
    const sending = fetch(app.endpoint, { method: 'OPTIONS' })
    expect(await sending.catch(() => 'closed')).to.equal('closed')
    await outcome
  })

  it('stores nothing of a body that something else has read', async () => {
    await using app = await run((tus) => (request, response) => {
      request.once('data', () => request.once('end', () => void tus(request, response)))
      request.resume()
    })
    const headers = { ...piece, ...named, 'Upload-Length': '5' }
    const answer = await fetch(app.endpoint, { method: 'POST', headers, body: 'Hello' })
    expect(answer.status).to.equal(500)
    expect(String(app.faults[0])).to.include('before body parsers')
  })

  it('names files and uploads as the application says', async () => {
    await using app = await run(undefined, {
      fileName: (metadata) => metadata.text('title') ?? 'untitled',
      location: (id) => `https://files.example/uploads/${id}`,
    })
    const headers = { ...protocol, 'Upload-Length': '0' }
    const { headers: answered } = await fetch(app.endpoint, { method: 'POST', headers })
    expect(answered.get('location')).to.match(/^https:\/\/files\.example\/uploads\/[\w-]+$/)
    expect((await app.files.stat('untitled')).size).to.equal(0)
  })

  it('refuses a checksum that is announced as a trailer, since it reads none', async () => {
    await using app = await run()
    const headers = { ...piece, ...named, 'Upload-Length': '5', Trailer: 'Upload-Checksum' }
    const { hostname, port, pathname } = new URL(app.endpoint)
    const sending = request({ hostname, port, path: pathname, method: 'POST', headers })
    sending.addTrailers({ 'Upload-Checksum': 'sha1 AAAA' })
    sending.end('Hello')
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode).to.equal(400)
    expect(await app.files.stat('a.txt').catch(() => 'nothing')).to.equal('nothing')
  })

  it('says what it knows, and drops uploads', async () => {
    await using app = await run()
    const about = await fetch(app.endpoint, { method: 'OPTIONS' })
    expect(about.headers.get('tus-max-size')).to.equal('50000000')
    const headers = { ...piece, ...named, 'Upload-Length': '5' }
    const begun = await fetch(app.endpoint, { method: 'POST', headers, body: 'Hel' })
    const url = new URL(begun.headers.get('location') ?? '', app.endpoint)
    const head = await fetch(url, { method: 'HEAD', headers: protocol })
    expect(head.headers.get('upload-offset')).to.equal('3')
    const wrong = { ...piece, 'Upload-Offset': '3', 'Upload-Checksum': 'sha1 AAAA' }
    const mismatch = await fetch(url, { method: 'PATCH', headers: wrong, body: 'lo' })
    expect({ status: mismatch.status, text: mismatch.statusText }).to.deep.equal({
      status: 460,
      text: 'Checksum Mismatch',
    })
    expect((await fetch(url, { method: 'DELETE', headers: protocol })).status).to.equal(204)
    expect((await fetch(url, { method: 'HEAD', headers: protocol })).status).to.equal(404)
  })
})
