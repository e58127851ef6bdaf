import { createHash } from 'node:crypto'
import { rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { contentOf, digestOf, mebibyte } from '../support/content.ts'
import { clientOf } from '../support/running-service.ts'
import { startServer } from '../support/start-server.ts'
import { useService } from '../support/use-service.ts'

describe('A large body', function () {
  this.timeout(120_000)
  const service = useService()
  const content = contentOf(32 * mebibyte)

  for (const reuseMemory of [false, true]) {
    it(`comes as it is, its memory reused: ${reuseMemory}`, async () => {
      await service.client.upload('file', content)
      const { body } = await service.client.download('file', { reuseMemory })
      const hash = createHash('sha256')
      for await (const chunk of body) {
        hash.update(chunk)
        // A file that is written takes its time, too.
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(hash.digest('hex')).to.equal(digestOf(content))
    })
  }

  it('has chunks that may be kept', async () => {
    await service.client.upload('file', content)
    const chunks: Uint8Array[] = []
    for await (const chunk of (await service.client.download('file')).body) chunks.push(chunk)
    expect(digestOf(Buffer.concat(chunks))).to.equal(digestOf(content))
  })

  it('is whole as bytes, though its memory is reused', async () => {
    await service.client.upload('file', content)
    const download = await service.client.download('file', { reuseMemory: true })
    expect(digestOf(await download.bytes())).to.equal(digestOf(content))
  })

  it('goes on where the connection was cut, and other requests follow it', async () => {
    await service.client.upload('file', content)
    await using line = await startBadLine(service.port, [
      { cutAnswerAfter: 9 * mebibyte + 1 },
      { cutAnswerAfter: 7 * mebibyte },
    ])
    const client = clientOf(line)
    expect(digestOf(await (await client.download('file')).bytes())).to.equal(digestOf(content))
    expect(line.connections()).to.equal(3)
    expect((await client.stat('file')).size).to.equal(content.length)
    expect((await client.usage()).files).to.equal(1)
  })

  it('ends with the reason of its abort', async () => {
    await service.client.upload('file', content)
    const aborted = new AbortController()
    const { body } = await service.client.download('file', {
      reuseMemory: true,
      signal: aborted.signal,
    })
    const reading = async () => {
      for await (const chunk of body) if (chunk.length > 0) aborted.abort()
    }
    expect(await rejection(reading())).to.equal(aborted.signal.reason)
  })

  it('ends when nothing more comes', async () => {
    await using server = await startServer((_, response) => {
      response.writeHead(200, { ...fileHeaders, 'Content-Length': 8 * mebibyte })
      response.write(content.subarray(0, 5 * mebibyte))
    })
    const client = clientOf(server, { idleTimeoutMs: 1000, retries: 0 })
    const reading = client.download('file').then((download) => download.bytes())
    expect(await rejection(reading)).to.include({ code: 'no-answer' })
  })

  it('ends at its size, whatever follows', async () => {
    const size = 8 * mebibyte
    await using server = await startServer(({ socket }) => {
      const lines = Object.entries({ ...fileHeaders, 'Content-Length': size })
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`)
      socket.write(content.subarray(0, size + 1000))
    })
    const download = await clientOf(server).download('file')
    expect(digestOf(await download.bytes())).to.equal(digestOf(content.subarray(0, size)))
  })
})

const fileHeaders = {
  ETag: '"a"',
  'Last-Modified': new Date(0).toUTCString(),
  'Content-Disposition': 'attachment',
}
