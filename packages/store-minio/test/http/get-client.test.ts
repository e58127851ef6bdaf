import { createServer, type Server, type Socket, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { createHash, createHmac } from 'node:crypto'
import { expect } from 'chai'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Checksum, SourceData } from '@smithy/types'
import fc from 'fast-check'
import {
  createGetClient,
  type GetClient,
  createSigner,
  escapeUri,
} from '../../src/http/get-client.ts'
import type { StoreBody } from '../../src/http/get-exchange.ts'

interface Peer {
  readonly client: GetClient
  /** What came on each connection. */
  readonly received: readonly string[]
  [Symbol.asyncDispose](): Promise<void>
}

/** A server that answers each request with what `answer` writes. */
async function withPeer(answer: (socket: Socket, request: string) => void): Promise<Peer> {
  const received: string[] = []
  const note = (index: number, text: string) =>
    (received[index] = `${received[index] ?? ''}${text}`)
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    const index = received.push('') - 1
    sockets.add(socket.on('error', () => {}))
    socket.on('data', (bytes: Buffer) => {
      note(index, bytes.toString('latin1'))
      if (bytes.toString('latin1').endsWith('\r\n\r\n')) answer(socket, bytes.toString('latin1'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createGetClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ region: 'us-east-1', accessKey: 'key', secretKey: 'secret' },
    ...{ connectTimeoutMs: 2000, idleTimeoutMs: 300 },
  })
  return {
    client,
    received,
    [Symbol.asyncDispose]: async () => {
      client.close()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function read(body: StoreBody): Promise<Buffer> {
  const parts: Buffer[] = []
  for (;;) {
    const bytes = await body.next()
    if (bytes === undefined) return Buffer.concat(parts)
    parts.push(Buffer.from(bytes))
  }
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Error ? error.message : error),
  )
}

const pattern = (size: number) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 7) % 251))

describe('createGetClient', () => {
  it('asks for a key by its escaped path, signed, with the conditions given', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'),
    )
    const answer = await peer.client.get('files', 'zoë/a b(1)\u0001.txt', {
      range: 'bytes=0-1',
      'if-match': '"x"',
    })
    expect(answer.head.status).to.equal(404)
    const [line, ...fields] = (peer.received[0] ?? '').trimEnd().split('\r\n')
    expect(line).to.equal('GET /files/zo%C3%AB/a%20b%281%29%01.txt HTTP/1.1')
    expect(fields).to.include.members([
      'range:bytes=0-1',
      'if-match:"x"',
      'x-amz-content-sha256:UNSIGNED-PAYLOAD',
    ])
    expect(fields.join()).to.match(
      /authorization:AWS4-HMAC-SHA256 Credential=key\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;if-match;range;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}/,
    )
  })

  it('takes a body however it is cut, and uses the connection again', async () => {
    const bytes = pattern(2_000_000)
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`
    await using peer = await withPeer((socket) => {
      for (const piece of [head.slice(0, 5), head.slice(5)]) socket.write(piece)
      for (let at = 0; at < bytes.length; at += 33_333)
        socket.write(bytes.subarray(at, at + 33_333))
    })
    for (let time = 0; time < 3; time++) {
      const { body, length } = await peer.client.get('b', 'k', {})
      expect(length).to.equal(bytes.length)
      expect(peer.client.busyConnections()).to.equal(1)
      expect((await read(body)).equals(bytes), `time ${time}`).to.equal(true)
      expect(peer.client.busyConnections()).to.equal(0)
    }
    expect(peer.received).to.have.length(1)
  })

  it('keeps the bytes of a piece until the next piece is asked for', async () => {
    const bytes = pattern(3_000_000)
    await using peer = await withPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`)
      socket.write(bytes)
    })
    const { body } = await peer.client.get('b', 'k', {})
    let offset = 0
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(bytes.subarray(offset, offset + chunk.length).equals(chunk), `at ${offset}`).to.equal(
        true,
      )
      offset += chunk.length
    }
    expect(offset).to.equal(bytes.length)
  })

  it('reads many small pieces in few large ones', async () => {
    const [piece, count] = [pattern(8192), 300]
    await using peer = await withPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${count * piece.length}\r\n\r\n`)
      const writeOne = (left: number) => {
        if (left > 0) socket.write(piece, () => setImmediate(writeOne, left - 1))
      }
      writeOne(count)
    })
    const { body } = await peer.client.get('b', 'k', {})
    const sizes: number[] = []
    for (let bytes = await body.next(); bytes; bytes = await body.next()) sizes.push(bytes.length)
    expect(sizes.reduce((sum, size) => sum + size)).to.equal(count * piece.length)
    expect(sizes.length).to.be.lessThan(count / 3)
  })

  it('uses a connection again after a 304, whatever its Content-Length', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'),
    )
    for (let time = 0; time < 2; time++) {
      const { head, body } = await peer.client.get('b', 'k', { 'if-none-match': '"x"' })
      expect(head.status).to.equal(304)
      expect((await read(body)).length).to.equal(0)
    }
    expect(peer.received).to.have.length(1)
  })

  it('uses several connections at a time', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx'),
    )
    const answers = await Promise.all([1, 2, 3].map(() => peer.client.get('b', 'k', {})))
    expect(peer.client.busyConnections()).to.equal(3)
    for (const { body } of answers) expect((await read(body)).toString()).to.equal('x')
    expect(peer.client.busyConnections()).to.equal(0)
  })

  it('does not use a connection again that the server closes', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx'),
    )
    for (let time = 0; time < 2; time++) await read((await peer.client.get('b', 'k', {})).body)
    expect(peer.received).to.have.length(2)
  })

  it('closes the connection of an answer that is not read to its end', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
    )
    const { body } = await peer.client.get('b', 'k', {})
    body.destroy()
    expect(await failureOf(body.next().then(() => body.next()))).to.equal(
      'The store has cut the connection',
    )
    expect(peer.client.busyConnections()).to.equal(0)
  })

  for (const [what, answer, message] of [
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'The store does not answer in HTTP/1.1'],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\n', 'The store sends an answer without a length'],
    [
      'chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'The store sends an answer without a length',
    ],
    ['a head without an end', 'x'.repeat(100_000), 'The head has no end'],
    [
      'longer than its Content-Length',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy',
      'The store sends more than the length of its answer',
    ],
    ['nothing', '', 'The store has been silent for 300 ms'],
  ] as const) {
    it(`fails for an answer that is ${what}`, async () => {
      await using peer = await withPeer((socket) => socket.write(answer))
      expect(await failureOf(peer.client.get('b', 'k', {}))).to.equal(message)
      expect(peer.client.busyConnections()).to.equal(0)
    })
  }

  it('fails a body that ends early', async () => {
    await using peer = await withPeer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxy'),
    )
    const { body } = await peer.client.get('b', 'k', {})
    expect(await failureOf(read(body))).to.equal('The store has cut the connection')
  })

  it('fails when the server is silent in the middle, not when the reader is slow', async () => {
    await using peer = await withPeer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxy'),
    )
    const { body } = await peer.client.get('b', 'k', {})
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(Buffer.from((await body.next()) ?? []).toString()).to.equal('xy')
    expect(await failureOf(body.next())).to.equal('The store has been silent for 300 ms')
  })

  it('closes the connection of a request when its signal aborts', async () => {
    await using peer = await withPeer(() => {})
    const controller = new AbortController()
    const answer = failureOf(peer.client.get('b', 'k', {}, controller.signal))
    while (peer.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort()
    expect(await answer).to.equal('The store has cut the connection')
    expect(peer.client.busyConnections()).to.equal(0)
  })

  it('refuses requests after it was closed', async () => {
    await using peer = await withPeer(() => {})
    peer.client.close()
    expect(await failureOf(peer.client.get('b', 'k', {}))).to.equal('The store has been closed')
  })
})

/** As the S3 client's signer wants it. */
class Sha256 implements Checksum {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>
  constructor(secret?: SourceData) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array)
  }
  update(data: SourceData): void {
    this.#hash.update(data as Uint8Array)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {}
}

const printable = fc.string({ minLength: 1, maxLength: 30 })
const timeouts = { connectTimeoutMs: 1, idleTimeoutMs: 1 }

describe('createSigner', () => {
  it('signs as the S3 client does', async () => {
    const requests = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'PUT'),
      key: fc.string({ minLength: 1, unit: 'grapheme' }),
      headers: fc.dictionary(fc.constantFrom('range', 'if-match', 'x-amz-meta-a'), printable),
      secretKey: printable,
      sessionToken: fc.option(fc.stringMatching(/^[\w+/=]{1,40}$/), { nil: undefined }),
      region: fc.constantFrom('us-east-1', 'eu'),
      date: fc.date({
        min: new Date('2000-01-01'),
        max: new Date('2100-01-01'),
        noInvalidDate: true,
      }),
    })
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { method, key, secretKey, sessionToken, region, date } = request
        const headers = { host: 'store:9000', ...request.headers }
        const path = `/files/${escapeUri(key)}`
        const signer = new SignatureV4({
          region,
          service: 's3',
          credentials: {
            accessKeyId: 'me',
            secretAccessKey: secretKey,
            ...(sessionToken !== undefined && { sessionToken }),
          },
          sha256: Sha256,
          uriEscapePath: false,
          applyChecksum: false,
        })
        const signed = await signer.sign(
          {
            ...{ method, path, protocol: 'http:', hostname: 'store', query: {} },
            headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
          },
          { signingDate: date },
        )
        const connection = { endpoint: 'http://store:9000', accessKey: 'me', ...timeouts }
        const sign = createSigner({ ...connection, region, secretKey, sessionToken }, () => date)
        expect(sign(method, path, headers)).to.include(
          `\r\nauthorization:${signed.headers['authorization'] ?? 'nothing'}\r\n`,
        )
      }),
      { numRuns: 300 },
    )
  })

  it('signs anew each day', () => {
    let date = new Date('2026-11-21T23:59:59.999Z')
    const connection = { endpoint: 'http://store:9000', region: 'eu', accessKey: 'me', ...timeouts }
    const sign = createSigner({ ...connection, secretKey: 'secret' }, () => date)
    const today = sign('GET', '/a', {})
    date = new Date('2026-11-22T00:00:00Z')
    const fresh = createSigner({ ...connection, secretKey: 'secret' }, () => date)
    expect(sign('GET', '/a', {}))
      .to.equal(fresh('GET', '/a', {}))
      .and.not.equal(today)
    expect(today).to.include('x-amz-date:20261121T235959Z\r\n')
  })
})
