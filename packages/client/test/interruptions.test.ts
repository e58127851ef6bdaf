import { type BadLine, type Fate, rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import type { Retry } from '../src/index.ts'
import { all } from './support/all.ts'
import { contentOf, inChunks, mebibyte } from './support/content.ts'
import { clientOf, login, startService, type RunningService } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'

describe('Where the line breaks, a client', function () {
  this.timeout(60_000)
  let service: RunningService
  const lines: BadLine[] = []
  let retries: Retry[]

  beforeEach(async () => {
    service = await startService()
    retries = []
  })

  afterEach(async () => {
    for (const line of lines.splice(0)) await line[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  const startLine = async (...fates: readonly Fate[]) => {
    const line = await startBadLine(service.port, fates)
    lines.push(line)
    return line
  }
  /** A client over a line whose connections have these fates. */
  const clientAfter = async (...fates: readonly Fate[]) => {
    const line = await startLine(...fates)
    return clientOf(line, { onRetry: (retry) => retries.push(retry), idleTimeoutMs: 10_000 })
  }
  const stored = async (name: string) =>
    Buffer.from(await (await clientOf(service).download(name)).bytes())

  it('asks again for what changes nothing', async () => {
    const client = await clientAfter('unanswered', { cutAfter: 1 }, { cutAnswerAfter: 20 })
    await clientOf(service).upload('a', 'b')
    expect(await all(client.list())).to.deep.equal(['a'])
    expect(retries).to.have.length(3)
    expect(retries.map(({ error }) => error.code)).to.deep.equal(Array(3).fill('no-answer'))
  })

  it('sends a small file again', async () => {
    const client = await clientAfter({ cutAfter: 100_000 }, 'unanswered')
    const bytes = contentOf(mebibyte)
    await client.upload('file', bytes)
    expect((await stored('file')).equals(bytes)).to.equal(true)
    expect(retries).to.have.length(2)
  })

  it('does not send again what it may have created, and says so', async () => {
    const client = await clientAfter('unanswered')
    const error = await rejection(client.upload('file', 'one', { createOnly: true }))
    expect(error).to.include({ code: 'no-answer', status: 0 })
    expect(error.cause).to.be.instanceOf(Error)
    expect((await stored('file')).toString()).to.equal('one')
    expect(retries).to.deep.equal([])
  })

  it('takes a file for deleted that is gone after the answer was lost', async () => {
    await clientOf(service).upload('file', 'one')
    const client = await clientAfter('unanswered')
    await client.delete('file')
    expect(await rejection(client.delete('file'))).to.include({ code: 'not-found' })
  })

  it('does not send a rename again that may be done, and does not say that it is', async () => {
    const target = clientOf(service)
    await target.upload('other', 'two')
    for (const isThere of [true, false]) {
      if (isThere) await target.upload('file', 'one')
      for (const createOnly of [true, false]) {
        const client = await clientAfter('unanswered')
        const error = await rejection(client.rename('file', 'other', { createOnly }))
        expect(error).to.include({ code: 'no-answer', status: 0 })
      }
    }
    expect(service.requests.filter((request) => request === 'POST /rename/file')).to.have.length(4)
    expect(service.requests.filter((request) => request.startsWith('HEAD'))).to.deep.equal([])
    expect(await all(target.list())).to.deep.equal(['other'])
    expect(retries).to.deep.equal([])
  })

  it('says that there is no file to delete where the request before did nothing', async () => {
    const passwords = ['wrong']
    const { password } = login
    const client = clientOf(service, { password: () => passwords.shift() ?? password })
    expect(await rejection(client.delete('file'))).to.include({ code: 'not-found' })
    const answers: readonly (readonly [number, string])[] = [
      [503, 'Overloaded'],
      [400, 'File not found'],
    ]
    let asked = 0
    await using server = await startServer((_, response) => {
      const [statusCode = 0, message] = answers[asked++] ?? []
      response.writeHead(statusCode).end(JSON.stringify({ statusCode, error: '', message }))
    })
    expect(await rejection(clientOf(server).delete('file'))).to.include({ code: 'not-found' })
    expect(asked).to.equal(2)
  })

  it('goes on with a large file where the server is', async () => {
    const client = await clientAfter(
      { cutAfter: 2 * mebibyte },
      'unanswered',
      { cutAfter: 7 * mebibyte },
      { cutAfter: 3 * mebibyte },
    )
    const bytes = contentOf(20 * mebibyte)
    const said: number[] = []
    await client.upload('file', bytes, {
      createOnly: true,
      onProgress: ({ sent }) => said.push(sent),
    })
    expect((await stored('file')).equals(bytes)).to.equal(true)
    // Not from the beginning each time.
    expect(said.filter((sent) => sent === 0).length).to.be.at.most(2)
    expect(service.requests.filter((request) => request === 'POST /resumable')).to.have.length(1)
    expect(await all(client.list())).to.deep.equal(['file'])
  })

  it('goes on with a stream where the server is', async () => {
    for (const size of [8 * mebibyte, 20 * mebibyte]) {
      const client = await clientAfter(
        { cutAfter: 3 * mebibyte },
        { cutAfter: 2 * mebibyte },
        'unanswered',
        { cutAfter: 5 * mebibyte },
      )
      const bytes = contentOf(size)
      await client.upload('file', inChunks(bytes, 300_000))
      expect((await stored('file')).equals(bytes)).to.equal(true)
      expect(retries.splice(0)).not.to.be.empty
    }
  })

  it('does not lose a published file whose answer is lost', async () => {
    // The connection is cut when the answer to the last piece comes: it begins after those to POST and PATCH.
    for (const cutAnswerAfter of [400, 600, 800]) {
      const client = await clientAfter({ cutAnswerAfter })
      const bytes = contentOf(16 * mebibyte)
      await client.upload('file', bytes, { createOnly: true })
      expect((await stored('file')).equals(bytes)).to.equal(true)
      await client.delete('file')
    }
  })

  it('goes on with a download where it was', async () => {
    const bytes = contentOf(5 * mebibyte)
    await clientOf(service).upload('file', bytes)
    const client = await clientAfter(
      { cutAnswerAfter: mebibyte },
      'unanswered',
      { cutAnswerAfter: 100 },
      { cutAnswerAfter: 2 * mebibyte },
    )
    const download = await client.download('file', { start: 1000, end: 5_000_000 })
    expect(download).to.include({ start: 1000, end: 5_000_000, size: bytes.length })
    expect(bytes.subarray(1000, 5_000_000).equals(await download.bytes())).to.equal(true)
    expect(retries).to.have.length(4)
  })

  it('never joins two versions of a file', async () => {
    const own = clientOf(service)
    await own.upload('file', contentOf(5 * mebibyte))
    const client = await clientAfter({ cutAnswerAfter: 3 * mebibyte })
    const { body } = await client.download('file')
    const reader = body.getReader()
    await reader.read()
    await own.upload('file', contentOf(5 * mebibyte).fill(1))
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    expect(await rejection(rest())).to.include({ code: 'precondition-failed' })
  })

  it('does not wait for ever on a line that says nothing', async () => {
    const line = await startLine('silent', 'silent')
    const client = clientOf(line, {
      idleTimeoutMs: 500,
      retries: 9,
      onRetry: (retry) => retries.push(retry),
    })
    await client.upload('file', contentOf(mebibyte))
    expect(retries.length).to.be.at.least(2)
    expect(retries[0]?.error.message).to.equal('No answer: nothing was sent or received for 0.5 s')
  })

  it('gives up after as many tries as it may make', async () => {
    const line = await startLine(...Array<Fate>(9).fill('unanswered'))
    const client = clientOf(line, { retries: 2, onRetry: (retry) => retries.push(retry) })
    expect(await rejection(client.usage())).to.include({ code: 'no-answer' })
    expect(retries).to.have.length(2)
    expect(retries[0]?.delayMs).to.be.within(250, 500)
    expect(retries[1]?.delayMs).to.be.within(500, 1000)
  })

  it('stops waiting when it is aborted', async () => {
    const line = await startLine(...Array<Fate>(9).fill('unanswered'))
    const controller = new AbortController()
    const client = clientOf(line, { onRetry: () => controller.abort() })
    expect(await rejection(client.usage({ signal: controller.signal }))).to.equal(
      controller.signal.reason,
    )
  })

  it('obeys Retry-After, unless that is long', async () => {
    const waits = ['1', '600']
    await using server = await startServer((_, response) => {
      const after = waits.shift() ?? '0'
      response.writeHead(503, { 'Retry-After': after, 'Content-Type': 'application/json' })
      response.end('{"statusCode":503,"error":"Service Unavailable","message":"Overloaded"}')
    })
    const client = clientOf(server, {
      onRetry: (retry) => retries.push(retry),
    })
    expect(await rejection(client.usage())).to.include({ code: 'overloaded', retryAfter: 600 })
    expect(retries.map(({ delayMs }) => delayMs)).to.deep.equal([1000])
  })

  it('takes words of a proxy for what they are', async () => {
    await using server = await startServer((_, response) =>
      response.writeHead(418).end('<h1>no tea</h1>'),
    )
    const error = await rejection(clientOf(server).usage())
    expect(error).to.include({
      code: 'unknown',
      status: 418,
      message: 'There is no holdfast at this address: the server there answered 418',
    })
  })

  it('reads a refusal that comes before the body is sent', async () => {
    await using server = await startServer((_, response) => {
      response.writeHead(413, { 'Content-Type': 'application/json', Connection: 'close' })
      response.end('{"statusCode":413,"error":"Payload Too Large","message":"File too large"}')
    })
    const client = clientOf(server, { retries: 0 })
    expect(await rejection(client.upload('file', contentOf(15 * mebibyte)))).to.include({
      code: 'file-too-large',
    })
  })

  it('sends a stream that cannot go in pieces once only', async () => {
    const asked: string[] = []
    await using server = await startServer((request, response) => {
      asked.push(request.method ?? '')
      const [status, error, message] =
        request.method === 'POST'
          ? [404, 'Not Found', 'Not Found']
          : [503, 'Service Unavailable', 'Overloaded']
      request.resume().on('end', () => {
        response.writeHead(status, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ statusCode: status, error, message }))
      })
    })
    const client = clientOf(server)
    const stream = inChunks(contentOf(9 * mebibyte), mebibyte)
    expect(await rejection(client.upload('file', stream))).to.include({ code: 'overloaded' })
    expect(asked).to.deep.equal(['POST', 'PUT'])
  })

  it('takes no other part of a file for the one that it asked for', async () => {
    await using server = await startServer((request, response) => {
      const isFirst = request.headers.range === undefined
      // Knows no ranges.
      const file = { 'Last-Modified': new Date(0).toUTCString(), 'Content-Disposition': '' }
      response.writeHead(200, { ...file, 'Content-Length': 10, ETag: '"x"' })
      response.write('01234', () => isFirst && response.destroy())
      if (!isFirst) response.end('56789')
    })
    const download = await clientOf(server).download('file')
    expect(await rejection(download.text())).to.include({
      code: 'unknown',
      message: 'The answer is not the requested part of the file',
    })
  })

  it('ends a download that goes on behind the end of the file, and asks for it once', async () => {
    let sent = 0
    let asked = 0
    await using server = await startServer((request, response) => {
      request.resume()
      asked++
      const file = { 'Last-Modified': new Date(0).toUTCString(), 'Content-Disposition': '' }
      response.writeHead(206, { ...file, ETag: '"1"', 'Content-Range': 'bytes 0-9/10' })
      const block = Buffer.alloc(64 * 1024)
      const more = () => {
        while (!response.destroyed && sent < 64 * mebibyte) {
          sent += block.length
          if (!response.write(block)) return void response.once('drain', more)
        }
      }
      more()
    })
    const { body } = await clientOf(server).download('a', { end: 10 })
    const error = await rejection(new Response(body).arrayBuffer())
    expect(error).to.include({ code: 'unknown', message: 'The answer is longer than the file' })
    expect(asked).to.equal(1)
    expect(sent).to.be.below(32 * mebibyte)
  })

  it('tries again to create where no connection could be made', async () => {
    const { port } = service
    await service[Symbol.asyncDispose]()
    const client = clientOf({ port }, { retries: 1, onRetry: (retry) => retries.push(retry) })
    const upload = client.upload('file', 'one', { createOnly: true })
    expect(await rejection(upload)).to.include({ code: 'no-answer' })
    expect(retries).to.have.length(1)
    service = await startService()
  })
})
