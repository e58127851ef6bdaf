import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { openFile, type Transport } from '../src/index.ts'
import { createNodeTransport } from '../src/node-transport.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { clientOf, login } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

describe('An upload that has begun earlier', function () {
  this.timeout(60_000)
  const service = useService()

  /** Stops an upload in the middle, and resolves with its URL. */
  async function beginUpload(bytes: ReturnType<typeof contentOf>): Promise<string> {
    let url = ''
    const stopping = service.client.upload('file', new Blob([bytes]), {
      pieceSize: 6_000_000,
      onUploadUrl: (given) => void (url = given),
      onProgress({ sent }) {
        if (sent >= 12_000_000) throw new Error('stop')
      },
    })
    expect(await rejection(stopping)).to.include({ message: 'stop' })
    return url
  }

  it('goes anew where it was published, and is gone or another file by now', async () => {
    const bytes = contentOf(17 * mebibyte)
    const urls: string[] = []
    const onUploadUrl = (given: string) => void urls.push(given)
    await service.client.upload('file', bytes, { onUploadUrl })
    const again = () => service.client.upload('file', bytes, { uploadUrl: urls[0], onUploadUrl })
    await again()
    expect(urls[1]).to.equal(urls[0])
    await service.client.delete('file')
    await again()
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
    await service.client.upload('file', 'of another one')
    await again()
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
    await service.client.upload('file', bytes.with(-1, (bytes.at(-1) ?? 0) ^ 1))
    await again()
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
    expect(new Set(urls).size).to.equal(4)
  })

  it('is done where another process has the content of it, piece by piece', async () => {
    const bytes = contentOf(17 * mebibyte)
    await using directory = await makeTemporaryDirectory()
    const path = join(directory.path, 'file')
    await writeFile(path, bytes)
    let url = ''
    await service.client.upload('file', bytes, { onUploadUrl: (given) => void (url = given) })
    for (const body of [new Blob([bytes]), await openFile(path)]) {
      service.requests.length = 0
      await service.client.upload('file', body, {
        uploadUrl: url,
        pieceSize: 5_000_000,
        createOnly: true,
      })
      expect(service.requests).to.deep.equal([
        `HEAD ${new URL(url).pathname}`,
        'HEAD /serve/file',
        'GET /serve/file',
      ])
    }
  })

  it('goes on also where the server still stores what an earlier process has sent', async () => {
    const bytes = contentOf(20 * mebibyte)
    const url = await beginUpload(bytes)
    const headers = {
      'Tus-Resumable': '1.0.0',
      'x-auth-name': login.name,
      'x-auth-password': login.password,
    }
    const send = createNodeTransport()
    let appended = 0
    const transport: Transport = async (request) => {
      if ('Want-Repr-Digest' in request.headers) {
        const { headers: state } = await fetch(url, { method: 'HEAD', headers })
        const offset = Number(state.get('upload-offset'))
        await fetch(url, {
          method: 'PATCH',
          headers: {
            ...headers,
            'Upload-Offset': String(offset),
            'Content-Type': 'application/offset+octet-stream',
          },
          body: new Blob([bytes.subarray(offset, offset + mebibyte)]),
        })
        appended = offset + mebibyte
      }
      return send(request)
    }
    const sent: number[] = []
    await clientOf(service, { transport }).upload('file', new Blob([bytes]), {
      uploadUrl: url,
      createSha256: () => createHash('sha256'),
      onProgress: (progress) => void sent.push(progress.sent),
    })
    expect(appended).to.be.greaterThan(mebibyte)
    expect(sent[0]).to.equal(appended)
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
  })

  it('goes on only with what it has begun with, where it can compare that', async () => {
    const bytes = contentOf(20 * mebibyte)
    const createSha256 = () => createHash('sha256')
    for (const [last, requests] of [
      [bytes, 0],
      [bytes.with(5, (bytes[5] ?? 0) ^ 1), 1],
    ] as const) {
      const url = await beginUpload(bytes)
      service.requests.length = 0
      await service.client.upload('file', new Blob([last]), { uploadUrl: url, createSha256 })
      expect(service.requests.filter((each) => each === 'POST /resumable')).to.have.length(requests)
      expect((await service.stored('file')).equals(last)).to.equal(true)
    }
  })

  it('goes anew where it is longer than the content', async () => {
    const breaking = async function* () {
      yield contentOf(20 * mebibyte)
      throw new Error('the pipe broke')
    }
    let url = ''
    const first = service.client.upload('file', breaking(), {
      onUploadUrl: (given) => void (url = given),
    })
    await rejection(first)
    const bytes = contentOf(mebibyte)
    await service.client.upload('file', bytes, { uploadUrl: url })
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
  })

  it('is forgotten where it will not go on, and a file that is there stays', async () => {
    const failing = {
      size: 20 * mebibyte,
      slice: async function* () {
        yield contentOf(100)
        throw new Error('the disk is broken')
      },
    }
    const urls: string[] = []
    const onUploadUrl = (given: string) => void urls.push(given)
    await rejection(service.client.upload('file', failing, { onUploadUrl }))
    await service.client.discardUpload(urls[0] ?? '')
    expect((await service.client.usage()).unfinished.uploads).to.equal(0)
    // Once more, as after a lost answer.
    await service.client.discardUpload(urls[0] ?? '')
    await service.client.upload('file', contentOf(17 * mebibyte), { onUploadUrl })
    await service.client.discardUpload(urls[1] ?? '')
    expect(await service.stored('file')).to.have.length(17 * mebibyte)
  })

  it('does not begin anew where the server only does not say how far it is', async () => {
    const bytes = contentOf(17 * mebibyte)
    const asked: string[] = []
    const answers = [429, 500, 503]
    await using server = await startServer((request, response) => {
      asked.push(request.method ?? '')
      const status = answers.shift()
      if (status === undefined) response.destroy()
      else response.writeHead(status).end()
    })
    const client = clientOf(server, { retries: 0 })
    const uploadUrl = `http://127.0.0.1:${server.port}/resumable/1`
    const again = () => rejection(client.upload('file', bytes, { uploadUrl }))
    for (const status of answers.slice()) expect(await again()).to.include({ status })
    expect(await again()).to.include({ code: 'no-answer' })
    expect(asked).to.deep.equal(Array(4).fill('HEAD'))
  })

  it('is looked for at its own server only, which alone may know the password', async () => {
    const asked: string[] = []
    await using elsewhere = await startServer((request, response) => {
      asked.push(request.method ?? '')
      response.writeHead(404).end()
    })
    const { port } = elsewhere
    const uploadUrl = `http://127.0.0.1:${port}/resumable/1`
    await using leading = await startServer((request, response) => {
      request.resume()
      response.writeHead(201, { Location: uploadUrl, 'Tus-Resumable': '1.0.0' }).end()
    })
    const bytes = contentOf(17 * mebibyte)
    expect(await rejection(service.client.upload('file', bytes, { uploadUrl }))).to.include({
      name: 'TypeError',
      message: `Not a URL on http://127.0.0.1:${service.port}: http://127.0.0.1:${port}`,
    })
    expect(await rejection(service.client.discardUpload(uploadUrl))).to.be.instanceOf(TypeError)
    const led = clientOf(leading).upload('file', bytes)
    expect(await rejection(led)).to.include({
      code: 'unknown',
      status: 201,
      message: `The answer names an address on another server: ${new URL(uploadUrl).origin}`,
    })
    expect(asked).to.deep.equal([])
    expect(service.requests).to.deep.equal([])
  })
})
