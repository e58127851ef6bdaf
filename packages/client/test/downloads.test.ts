import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rejection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { clientOf } from './support/running-service.ts'
import { useService } from './support/use-service.ts'
import { contentOf, mebibyte } from './support/content.ts'

describe('download', () => {
  const service = useService()

  it('says what is known of the file', async () => {
    const client = clientOf(service)
    await client.upload('notes.txt', 'Hello')
    const { etag, modified } = await client.stat('notes.txt')
    const download = await client.download('notes.txt')
    expect(download).to.include({
      name: 'notes.txt',
      size: 5,
      start: 0,
      end: 5,
      etag,
      type: 'text/plain; charset=utf-8',
    })
    expect(download.modified).to.equal(modified.replace(/\.\d{3}Z$/, '.000Z'))
    expect(await (await download.blob()).text()).to.equal('Hello')
  })

  it('may be given up after its last byte', async () => {
    const client = clientOf(service)
    await client.upload('file', contentOf(mebibyte))
    for (let round = 0; round < 20; round++) {
      const { body, size } = await client.download('file')
      let read = 0
      for await (const chunk of body) {
        read += chunk.length
        if (read === size) break
      }
      // What no one catches comes a tick later.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it('gives parts of a file', async () => {
    const client = clientOf(service)
    await client.upload('notes.txt', 'Hello, holdfast')
    const part = async (options: object) => (await client.download('notes.txt', options)).text()
    expect(await part({ start: 7 })).to.equal('holdfast')
    expect(await part({ end: 5 })).to.equal('Hello')
    expect(await part({ start: 7, end: 11 })).to.equal('hold')
    expect(await part({ start: 7, end: 99 })).to.equal('holdfast')
    expect(await rejection(part({ start: 15 }))).to.include({ code: 'range-not-satisfiable' })
    expect(await rejection(part({ start: 3, end: 3 }))).to.be.instanceOf(RangeError)
  })

  it('gives an empty file', async () => {
    const client = clientOf(service)
    await client.upload('empty', '')
    expect(await (await client.download('empty')).bytes()).to.have.length(0)
    expect(await (await client.download('empty', { end: 9 })).bytes()).to.have.length(0)
    const beyond = client.download('empty', { start: 5 })
    expect(await rejection(beyond)).to.include({ code: 'range-not-satisfiable' })
  })

  it('gives the version that is asked for', async () => {
    const client = clientOf(service)
    await client.upload('file', 'one')
    const { etag } = await client.stat('file')
    expect(await (await client.download('file', { ifMatch: etag })).text()).to.equal('one')
    await client.upload('file', 'two')
    expect(await rejection(client.download('file', { ifMatch: etag }))).to.include({
      code: 'precondition-failed',
    })
  })

  it('gives a file that a proxy would compress, and so not say how large it is', async () => {
    const asked: (string | undefined)[] = []
    const file = { 'Last-Modified': new Date(0).toUTCString(), 'Content-Disposition': 'attachment' }
    const proxy = createServer(({ headers: { range } }, response) => {
      asked.push(range)
      if (range === undefined) {
        response.writeHead(200, { ...file, 'Content-Encoding': 'gzip', ETag: 'W/"a"' })
        // It goes on until it is given up.
        response.write(gzipSync('Hello'))
      } else {
        response.writeHead(206, { ...file, 'Content-Range': 'bytes 0-4/5', ETag: '"a"' })
        response.end('Hello')
      }
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    try {
      const download = await clientOf(proxy.address() as AddressInfo).download('file')
      expect(download).to.include({ size: 5, start: 0, end: 5, etag: '"a"' })
      expect(await download.text()).to.equal('Hello')
      expect(asked).to.deep.equal([undefined, 'bytes=0-'])
      // The first connection was not kept.
      await until('it is closed', async () => (await connections(proxy)) === 1)
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  it('ends when it is aborted or cancelled', async () => {
    const client = clientOf(service)
    await client.upload('file', contentOf(9 * mebibyte))
    const controller = new AbortController()
    const aborted = await client.download('file', { signal: controller.signal })
    const reader = aborted.body.getReader()
    await reader.read()
    controller.abort()
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    expect(await rejection(rest())).to.equal(controller.signal.reason)
    const { body } = await client.download('file')
    await body.cancel()
    // The connection is not kept for what was given up.
    expect(await client.usage()).to.include({ files: 1 })
  })
})

const connections = (server: Server) => promisify(server.getConnections.bind(server))()
