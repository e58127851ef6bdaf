import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { createNodeTransport, createDoubleBuffer } from '../src/node-transport.ts'
import { contentOf, digestOf, mebibyte } from './support/content.ts'
import { clientOf, login } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

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

const small = 256 * 1024
/** Up to here the system's own buffers may take what a slow line does not. */
const buffered = 16 * mebibyte

/** How many bytes of a body have gone out at each step, to a server that sleeps for `pauseMs` after each chunk that it reads. */
async function stepsOf(size: number, pauseMs = 0): Promise<readonly number[]> {
  const server = createServer((request, response) => {
    void (async () => {
      for await (const _ of request) if (pauseMs > 0) await wait(pauseMs)
      response.end()
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const steps: number[] = []
    const { body } = await createNodeTransport()({
      method: 'PUT',
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      headers: {},
      body: new Uint8Array(size),
      size,
      signal: new AbortController().signal,
      onSent: (sent) => steps.push(sent),
    })
    let answered = 0
    for await (const { length } of body) answered += length
    expect(answered).to.equal(0)
    return steps
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const sizesOf = (steps: readonly number[]) =>
  steps.map((sent, index) => sent - (steps[index - 1] ?? 0))

describe('A body that is sent over HTTP', function () {
  this.timeout(60_000)

  it('goes a mebibyte at a time where the line is quick, after the first ones', async () => {
    const steps = await stepsOf(64 * mebibyte)
    const sizes = sizesOf(steps)
    const first = sizes.slice(0, buffered / small)
    expect(first.every((size) => size === small)).to.equal(true)
    expect(sizes).to.include(mebibyte)
    expect(steps.at(-1)).to.equal(64 * mebibyte)
  })

  it('goes in small steps where the line is slow', async () => {
    const steps = await stepsOf(20 * mebibyte, 10)
    const late = sizesOf(steps).slice(buffered / small)
    expect(Math.max(...late)).to.equal(small)
  })
})

describe('A program that uploads and downloads over HTTP', () => {
  const service = useService()

  it('loads neither what fetch is made of nor TLS', async () => {
    const child = join(import.meta.dirname, 'children/list-modules.ts')
    const url = `http://127.0.0.1:${service.port}`
    const { stdout } = await promisify(execFile)(process.execPath, [
      child,
      ...[url, login.name, login.password],
    ])
    const modules = JSON.parse(stdout) as readonly string[]
    expect(modules).to.include('_http_client')
    expect(modules).not.to.include.oneOf(['internal/deps/undici/undici', 'https', '_tls_wrap'])
  })
})

describe('createDoubleBuffer', () => {
  const bytes = (...values: readonly number[]) => Uint8Array.from(values)

  it('gives what was added since', () => {
    const buffer = createDoubleBuffer(4, 2)
    expect(buffer.take()).to.equal(undefined)
    buffer.add(bytes(1, 2))
    buffer.add(bytes(3))
    expect(buffer.take()).to.deep.equal(bytes(1, 2, 3))
    expect(buffer.take()).to.equal(undefined)
  })

  it('says when another step has no room', () => {
    const buffer = createDoubleBuffer(4, 2)
    expect(buffer.add(bytes(1))).to.equal(true)
    expect(buffer.add(bytes(2))).to.equal(true)
    expect(buffer.add(bytes(3))).to.equal(false)
    buffer.take()
    expect(buffer.add(bytes(4, 5))).to.equal(true)
  })

  it('leaves a chunk as it is until the next one is taken', () => {
    const buffer = createDoubleBuffer(2, 1)
    buffer.add(bytes(1, 2))
    const chunk = buffer.take()
    buffer.add(bytes(3, 4))
    expect(chunk).to.deep.equal(bytes(1, 2))
    expect(buffer.take()).to.deep.equal(bytes(3, 4))
    expect(chunk).to.deep.equal(bytes(1, 2))
  })
})
