import { createCipheriv, createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect } from 'chai'
import { createSite, credentials, memoryOf, resetPeak, startHoldfast } from './holdfast-process.ts'

const size = 1024 ** 3
const allowedGrowth = 96 * 1024 ** 2

/** `size` bytes that no file system can compress or keep sparse, made as they are read, the same in every run. */
function* pseudoRandom(bytes: number): Iterable<Buffer> {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  const zeros = Buffer.alloc(256 * 1024)
  for (let rest = bytes; rest > 0; rest -= zeros.length) {
    yield cipher.update(zeros.subarray(0, Math.min(rest, zeros.length)))
  }
}

const boundary = 'one-gibibyte-boundary'
const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`
const tail = `\r\n--${boundary}--\r\n`

function* formOf(content: Iterable<Buffer>): Iterable<Buffer> {
  yield Buffer.from(head)
  yield* content
  yield Buffer.from(tail)
}

async function send(
  url: string,
  method: string,
  headers: Record<string, string | number>,
  body: Iterable<Buffer> = [],
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers: { ...credentials, ...headers } })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(Readable.from(body, { objectMode: false }), outgoing)
  const [incoming] = await answered
  return incoming
}

async function digestOf(content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of content) hash.update(chunk)
  return hash.digest('hex')
}

describe('a file of one gibibyte', () => {
  it('goes up as a form and raw, and down, whole and within 96 MiB of memory', async function () {
    this.timeout(180_000)
    const site = await createSite()
    const server = await startHoldfast(site.directory)
    try {
      const expected = await digestOf(pseudoRandom(size))
      // What the first small upload and download allocate is the server's own and not the file's.
      await warmUp(server.url)
      await resetPeak(server.pid)
      const before = await memoryOf(server.pid, 'VmRSS')

      const uploaded = await send(
        `${server.url}/upload`,
        'POST',
        {
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-length': head.length + size + tail.length,
        },
        formOf(pseudoRandom(size)),
      )
      expect(uploaded.statusCode).to.equal(200)
      uploaded.resume()
      const put = await send(
        `${server.url}/upload/raw.bin`,
        'PUT',
        { 'content-length': size },
        pseudoRandom(size),
      )
      expect(put.statusCode).to.equal(200)
      put.resume()

      for (const name of ['big.bin', 'raw.bin']) {
        const served = await send(`${server.url}/serve/${name}`, 'GET', {})
        expect(served.headers['content-length']).to.equal(`${size}`)
        expect(await digestOf(served as AsyncIterable<Buffer>)).to.equal(expected)
      }
      const growth = (await memoryOf(server.pid, 'VmHWM')) - before
      expect(growth, 'bytes of resident memory beyond the idle server').to.be.below(allowedGrowth)
    } finally {
      await server.stop()
      await site.remove()
    }
  })
})

async function warmUp(url: string): Promise<void> {
  const small = Buffer.alloc(8 * 1024 ** 2)
  ;(await send(`${url}/upload/warm`, 'PUT', { 'content-length': small.length }, [small])).resume()
  await digestOf((await send(`${url}/serve/warm`, 'GET', {})) as AsyncIterable<Buffer>)
}
