import { Readable } from 'node:stream'
import { rejection, until } from '@holdfast/testing'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import type { UploadBody, UploadProgress } from '../src/index.ts'
import { all } from './support/all.ts'
import { contentOf, digestOf, inChunks, mebibyte } from './support/content.ts'
import { clientOf, startService } from './support/running-service.ts'
import { useService } from './support/use-service.ts'

describe('upload', function () {
  this.timeout(60_000)
  const service = useService()

  const kinds: Readonly<Record<string, (bytes: Buffer<ArrayBuffer>) => UploadBody>> = {
    'a Buffer': (bytes) => bytes,
    'an ArrayBuffer': ({ buffer, byteOffset, length }) =>
      buffer.slice(byteOffset, byteOffset + length),
    'a DataView': ({ buffer, byteOffset, length }) => new DataView(buffer, byteOffset, length),
    'a Blob': (bytes) => new Blob([bytes]),
    'a stream of Node': (bytes) => Readable.from(inChunks(bytes, 100_000)),
    'a stream of the web': (bytes) => ReadableStream.from(inChunks(bytes, 3 * mebibyte)),
    'an async iterable': (bytes) => inChunks(bytes, 70_001),
  }

  for (const [kind, make] of Object.entries(kinds)) {
    it(`stores ${kind} of any size`, async () => {
      const isStream = /stream|iterable/.test(kind)
      // What is at the edges of pieces, or in the middle of several.
      const border = (isStream ? 8 : 16) * mebibyte
      for (const size of [0, 1, border - 1, border, border + mebibyte + 1]) {
        const bytes = contentOf(size) as Buffer<ArrayBuffer>
        await service.client.upload(`${size}`, make(bytes), { sha256: digestOf(bytes) })
        expect((await service.stored(`${size}`)).equals(bytes), `${size} bytes`).to.equal(true)
        expect(service.requests).to.include(
          size < border ? `PUT /upload/${size}` : 'POST /resumable',
        )
        expect(service.requests).not.to.include(
          size < border ? 'POST /resumable' : `PUT /upload/${size}`,
        )
      }
    })
  }

  it('replaces a file, unless it may only create one', async () => {
    for (const size of [3, 16 * mebibyte]) {
      await service.client.upload('file', 'one')
      const refused = service.client.upload('file', contentOf(size), { createOnly: true })
      expect(await rejection(refused)).to.include({ code: 'already-exists', status: 412 })
      expect((await service.stored('file')).toString()).to.equal('one')
      const { etag } = await service.client.upload('file', contentOf(size))
      expect(await service.stored('file')).to.have.length(size)
      expect(etag).to.equal((await service.client.stat('file')).etag)
    }
  })

  it('stores nothing that is not what its digest says', async () => {
    for (const size of [3, 16 * mebibyte]) {
      const upload = service.client.upload('file', contentOf(size), {
        sha256: digestOf(Buffer.from('other')),
      })
      expect(await rejection(upload)).to.include({ code: 'digest-mismatch' })
    }
    const stream = service.client.upload('file', inChunks(contentOf(9 * mebibyte), mebibyte), {
      sha256: digestOf(Buffer.from('other')),
    })
    expect(await rejection(stream)).to.include({ code: 'digest-mismatch' })
    expect(await all(service.client.list())).to.deep.equal([])
    expect(await service.client.usage()).to.deep.include({ unfinished: { uploads: 0, bytes: 0 } })
    expect(await rejection(service.client.upload('file', '', { sha256: 'abc' }))).to.be.instanceOf(
      TypeError,
    )
  })

  it('says how far it is', async () => {
    for (const body of [contentOf(mebibyte), contentOf(17 * mebibyte)]) {
      const said: UploadProgress[] = []
      await service.client.upload('file', body, { onProgress: (progress) => said.push(progress) })
      expect(said.at(-1)).to.deep.equal({ sent: body.length, size: body.length })
      expect(said.map(({ sent }) => sent)).to.deep.equal(
        said.map(({ sent }) => sent).toSorted((a, b) => a - b),
      )
    }
    const said: UploadProgress[] = []
    await service.client.upload('file', inChunks(contentOf(17 * mebibyte), mebibyte), {
      onProgress: (progress) => said.push(progress),
    })
    expect(said.at(-1)).to.deep.equal({ sent: 17 * mebibyte, size: 17 * mebibyte })
  })

  it('uploads as a whole where the store keeps no uploads in pieces', async () => {
    const { resumable: _, ...store } = createMemoryBlobStore()
    await using simple = await startService({ store })
    const own = clientOf(simple)
    const bytes = contentOf(20 * mebibyte)
    await own.upload('buffer', bytes)
    await own.upload('stream', inChunks(bytes, mebibyte), { sha256: digestOf(bytes) })
    for (const name of ['buffer', 'stream']) {
      expect(Buffer.from(await (await own.download(name)).bytes()).equals(bytes)).to.equal(true)
    }
    expect(simple.requests.slice(0, 4)).to.deep.equal([
      'POST /resumable',
      'PUT /upload/buffer',
      'POST /resumable',
      'PUT /upload/stream',
    ])
  })

  it('gives the error of a body as it is, and tries no other time', async () => {
    const failure = new Error('the disk is broken')
    for (const size of [100, 9 * mebibyte, 17 * mebibyte]) {
      const body = async function* () {
        yield contentOf(size)
        throw failure
      }
      expect(await rejection(service.client.upload('file', body()))).to.equal(failure)
    }
    expect(await all(service.client.list())).to.deep.equal([])
    expect(await service.client.usage()).to.deep.include({ unfinished: { uploads: 0, bytes: 0 } })
  })

  for (const size of [5, 17 * mebibyte]) {
    it(`stores nothing of a body that has not its size, ${size} bytes, and goes on`, async () => {
      const { client } = service
      for (const given of [size + 5, size - 5]) {
        const slice = (start: number, end: number) =>
          inChunks(contentOf(given).subarray(start, end < size ? end : given), 100_000)
        const error = await rejection(client.upload(`odd ${given}`, { size, slice }))
        expect(error, `${given} bytes`).to.have.property('code', 'changed-meanwhile')
        expect(await all(client.list({ prefix: `odd ${given}` }))).to.deep.equal([])
      }
    })
  }

  it('drops what has arrived when it is aborted, unless its URL was asked for', async () => {
    const stop = async (keeps: boolean) => {
      const controller = new AbortController()
      const body = async function* () {
        for (let at = 0; at < 3; at++) yield contentOf(8 * mebibyte)
        controller.abort()
        yield contentOf(8 * mebibyte)
      }
      let url: string | undefined
      const upload = service.client.upload('file', body(), {
        signal: controller.signal,
        ...(keeps && { onUploadUrl: (given: string) => void (url = given) }),
      })
      expect(await rejection(upload)).to.equal(controller.signal.reason)
      return url
    }
    await stop(false)
    await until('the server has dropped it', async () => {
      const { files, unfinished } = await service.client.usage()
      return files === 0 && unfinished.uploads === 0
    })
    expect(await stop(true)).to.match(/\/resumable\//)
    expect((await service.client.usage()).unfinished.uploads).to.equal(1)
  })

  it('goes on with an upload that another process has begun', async () => {
    const bytes = contentOf(20 * mebibyte)
    const controller = new AbortController()
    let url = ''
    const half = {
      size: bytes.length,
      async *slice(start: number, end: number) {
        yield bytes.subarray(start, Math.min(end, 10 * mebibyte))
        await new Promise((resolve) => controller.signal.addEventListener('abort', resolve))
      },
    }
    const first = service.client.upload('file', half, {
      signal: controller.signal,
      onUploadUrl: (given) => void (url = given),
      onProgress: ({ sent }) => sent === 10 * mebibyte && setTimeout(() => controller.abort(), 100),
    })
    await rejection(first)
    const said: number[] = []
    await clientOf(service).upload('file', bytes, {
      uploadUrl: url,
      onProgress: ({ sent }) => said.push(sent),
    })
    expect(said[0]).to.be.within(1, 10 * mebibyte)
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
  })

  it('goes on with a stream that another process has begun as the file that it was', async () => {
    const bytes = contentOf(20 * mebibyte)
    const breaking = async function* () {
      yield* inChunks(bytes.subarray(0, 17 * mebibyte), mebibyte)
      throw new Error('the pipe broke')
    }
    let url = ''
    const first = service.client.upload('file', breaking(), {
      onUploadUrl: (given) => void (url = given),
    })
    expect(await rejection(first)).to.have.property('message', 'the pipe broke')
    const said: number[] = []
    const onProgress = ({ sent }: UploadProgress) => said.push(sent)
    await service.client.upload('file', bytes, { uploadUrl: url, onProgress })
    expect(said[0]).to.equal(8 * mebibyte)
    expect((await service.stored('file')).equals(bytes)).to.equal(true)
  })

  it('keeps an upload that it has not begun itself, whatever becomes of it', async () => {
    const failing = {
      size: 20 * mebibyte,
      slice: async function* () {
        yield contentOf(100)
        throw new Error('the disk is broken')
      },
    }
    let url = ''
    const onUploadUrl = (given: string) => void (url = given)
    await rejection(service.client.upload('file', failing, { onUploadUrl }))
    await rejection(service.client.upload('file', failing, { uploadUrl: url }))
    expect((await service.client.usage()).unfinished.uploads).to.equal(1)
    const stranger = clientOf(service, { password: 'wrong' })
    const refused = stranger.upload('file', contentOf(20 * mebibyte), { uploadUrl: url })
    expect(await rejection(refused)).to.include({ code: 'invalid-credentials' })
  })

  it('does not take another file that is there already for this one', async () => {
    const bytes = contentOf(17 * mebibyte)
    let url = ''
    await service.client.upload('file', bytes, { onUploadUrl: (given) => void (url = given) })
    await service.client.upload('other', bytes, { uploadUrl: url })
    expect((await service.stored('other')).equals(bytes)).to.equal(true)
    const sha256 = digestOf(Buffer.from('another'))
    const refused = service.client.upload('file', bytes, { uploadUrl: url, sha256 })
    expect(await rejection(refused)).to.include({ code: 'digest-mismatch' })
  })

  it('sends pieces that are as large as they may be', async () => {
    const body = new Blob([contentOf(65 * mebibyte)])
    for (const [pieceSize, count] of [[undefined, 2] as const, [Infinity, 1], [20 * mebibyte, 4]]) {
      service.requests.length = 0
      await service.client.upload('file', body, { pieceSize })
      expect(service.requests.filter((each) => each.startsWith('PATCH'))).to.have.length(count)
      expect(await service.client.stat('file')).to.include({ size: body.size })
    }
    for (const pieceSize of [0, 1.5, NaN]) {
      const refused = service.client.upload('file', body, { pieceSize })
      expect(await rejection(refused)).to.be.instanceOf(RangeError)
    }
  })

  it('stores under no other name than the given one', async () => {
    for (const size of [1, 17 * mebibyte]) {
      const upload = service.client.upload('half \ud800', contentOf(size))
      expect(await rejection(upload)).to.include({ code: 'invalid-file-name' })
    }
    expect(service.requests).to.deep.equal([])
  })

  it('ends at once when it is aborted, also where its body says nothing', async () => {
    for (const size of [0, 9 * mebibyte]) {
      const body = async function* () {
        yield contentOf(size)
        await new Promise(() => {})
      }
      const controller = new AbortController()
      const upload = service.client.upload('file', body(), { signal: controller.signal })
      setTimeout(() => controller.abort(), 200)
      expect(await rejection(upload)).to.equal(controller.signal.reason)
    }
  })

  it('gives the error of a callback as it is', async () => {
    const failure = new Error('no screen')
    for (const size of [1, 15 * mebibyte, 17 * mebibyte]) {
      const said: number[] = []
      const onProgress = ({ sent }: UploadProgress) => {
        if (sent > 0) said.push(sent)
        if (sent > 0) throw failure
      }
      const upload = service.client.upload('file', contentOf(size), { onProgress })
      expect(await rejection(upload)).to.equal(failure)
      expect(said).to.have.length(1)
    }
    expect(await service.client.usage()).to.deep.include({ unfinished: { uploads: 0, bytes: 0 } })
  })

  it('begins anew where the server does not know the upload, or it is one of another size', async () => {
    const bytes = contentOf(17 * mebibyte)
    let url = ''
    await service.client.upload('file', bytes, { onUploadUrl: (given) => void (url = given) })
    const urls: string[] = []
    for (const uploadUrl of [url, `${url}x`]) {
      await service.client.upload('other', bytes.subarray(1), {
        uploadUrl,
        onUploadUrl: (given) => urls.push(given),
      })
      expect((await service.stored('other')).equals(bytes.subarray(1))).to.equal(true)
    }
    expect(urls).not.to.include(url)
  })
})
