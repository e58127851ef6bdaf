import { text } from 'node:stream/consumers'
import { FileServiceError, type OpenBlob } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { type Fate, rejection, startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import type { FileToDownload, HoldfastError } from '../src/index.ts'
import { all } from './support/all.ts'
import { files as numbered } from './support/many-files.ts'
import { clientOf, login, startService } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

const encoder = new TextEncoder()
const largest = 256 * 1024
const headers = { 'x-auth-name': login.name, 'x-auth-password': login.password }

/** The names, with the contents, or the codes of their errors. */
async function contents(files: AsyncIterable<FileToDownload>): Promise<readonly string[][]> {
  const found: string[][] = []
  for await (const { name, download } of files) {
    const content = download().then((file) => file.text())
    found.push([name, await content.catch((error: unknown) => (error as HoldfastError).code)])
  }
  return found
}

describe('Client.downloadMany', function () {
  this.timeout(60_000)
  const service = useService()

  async function store(files: readonly { readonly name: string; readonly body: string }[]) {
    for (const { name, body } of files) await service.files.upload(name, encoder.encode(body))
  }
  const expected = (files: readonly { readonly name: string; readonly body: string }[]) =>
    files.map(({ name, body }) => [name, body])

  it('downloads small files, up to 1,000 in a request, in the order of the names', async () => {
    const files = numbered(1001)
    await store(files)
    const names = files.map(({ name }) => name)
    expect(await contents(service.client.downloadMany(names))).to.deep.equal(expected(files))
    expect(service.requests).to.deep.equal(['POST /serve/batch', `GET /serve/${names[1000]}`])
  })

  it('has the same details as a single download', async () => {
    const names = ['a.txt', 'b.png', 'empty', '密 "x" €.tar.gz', 'x'.repeat(255)]
    await store(names.map((name) => ({ name, body: name === 'empty' ? '' : `of ${name}` })))
    for await (const { name, download } of service.client.downloadMany(names)) {
      const [one, other] = [await download(), await service.client.download(name)]
      const { body: _, ...details } = { ...one }
      const { body, ...otherDetails } = { ...other }
      await body.cancel()
      expect(JSON.stringify(details)).to.equal(JSON.stringify(otherDetails))
      expect(await text(one.body)).to.equal(name === 'empty' ? '' : `of ${name}`)
    }
  })

  it('gives the bytes of a file as often as they are asked for, each time as a copy', async () => {
    await store([
      { name: 'a', body: 'content' },
      { name: 'b', body: '' },
    ])
    const [a] = await all(service.client.downloadMany(['a', 'b']))
    const download = await a!.download()
    ;(await download.bytes()).fill(0)
    expect(Buffer.from(await download.bytes()).toString()).to.equal('content')
    expect(await text(download.body)).to.equal('content')
  })

  it('downloads large files alone, when their download is started', async () => {
    const large = 'x'.repeat(largest + 1)
    const just = 'y'.repeat(largest)
    await store([
      { name: 'a', body: 'small' },
      { name: 'b', body: large },
      { name: 'c', body: just },
    ])
    const files = await all(service.client.downloadMany(['a', 'b', 'c']))
    expect(service.requests).to.have.length(1)
    const found = await Promise.all(files.map(async ({ download }) => (await download()).text()))
    expect(found).to.deep.equal(['small', large, just])
    expect(service.requests.slice(1)).to.deep.equal(['GET /serve/b'])
  })

  it('says of what is missing, or invalid, what a single download says', async () => {
    await store([
      { name: 'a', body: 'A' },
      { name: 'c', body: 'C' },
    ])
    const names = async function* () {
      yield* ['no', 'a', 'a', 'b', 'c', 'last']
    }
    expect(await contents(service.client.downloadMany(names()))).to.deep.equal([
      ['no', 'not-found'],
      ['a', 'A'],
      ['a', 'A'],
      ['b', 'not-found'],
      ['c', 'C'],
      ['last', 'not-found'],
    ])
    expect(await contents(service.client.downloadMany(['a', 'x/y', '', '..']))).to.deep.equal([
      ['a', 'A'],
      ['x/y', 'invalid-file-name'],
      ['', 'no-file-name'],
      ['..', 'invalid-file-name'],
    ])
  })

  it('asks for one name as for a single file, and for none not at all', async () => {
    await store([{ name: 'a', body: 'A' }])
    expect(await contents(service.client.downloadMany([]))).to.deep.equal([])
    expect(await contents(service.client.downloadMany(['a']))).to.deep.equal([['a', 'A']])
    expect(service.requests).to.deep.equal(['GET /serve/a'])
  })

  it('keeps its connection, for the next request', async () => {
    await store(numbered(2))
    const names = numbered(2).map(({ name }) => name)
    await using line = await startBadLine(service.port, [])
    const client = clientOf(line)
    for (let times = 0; times < 3; times++) await all(client.downloadMany(names))
    expect(line.connections()).to.equal(1)
  })

  it('goes on after a break with what has not arrived', async () => {
    const files = numbered(300)
    await store(files)
    const names = files.map(({ name }) => name)
    const fates: readonly Fate[] = [
      { cutAfter: 100 },
      { cutAnswerAfter: 70_000 },
      { cutAnswerAfter: 200_000 },
      'unanswered',
    ]
    await using line = await startBadLine(service.port, fates)
    const found = await contents(clientOf(line).downloadMany(names))
    expect(found).to.deep.equal(expected(files))
  })

  it('passes over a file that cannot be read, which only its own download says', async () => {
    const files = numbered(20)
    const broken = new Set(['00003.txt', '00004.txt', '00019.txt'])
    await using faulty = await startService({ store: storeWithout(broken) })
    for (const { name, body } of files) await faulty.files.upload(name, encoder.encode(body))
    const client = clientOf(faulty, { retries: 0 })
    const names = files.map(({ name }) => name)
    expect(await contents(client.downloadMany(names))).to.deep.equal(
      files.map(({ name, body }) => [name, broken.has(name) ? 'store-unavailable' : body]),
    )
  })

  it('asks anew only where a file could not be read', async () => {
    const files = numbered(20)
    await using faulty = await startService({ store: storeWithout(new Set(['00005.txt'])) })
    for (const { name, body } of files) await faulty.files.upload(name, encoder.encode(body))
    const names = files.map(({ name }) => name)
    const found = await contents(clientOf(faulty, { retries: 1 }).downloadMany(names))
    expect(found.filter(([, content]) => content === 'store-unavailable')).to.have.length(1)
    const archives = faulty.requests.filter((request) => request === 'POST /serve/batch')
    // Up to the file, from the file, and from the one after it.
    expect(archives).to.have.length(3)
    expect(faulty.requests.filter((request) => request === 'GET /serve/00005.txt')).to.have.length(
      2,
    )
  })

  it('asks for each file alone after a refusal, and asks not again and again', async () => {
    const may = ['list'] as const
    await using service = await startService({ logins: { reader: may } })
    const client = clientOf(service, { name: `${login.name}/reader`, password: 'reader' })
    const names = numbered(50).map(({ name }) => name)
    const found = await contents(client.downloadMany(names))
    expect(found).to.deep.equal(names.map((name) => [name, 'not-allowed']))
    expect(service.requests.filter((request) => request.startsWith('POST'))).to.have.length(1)
  })

  it('gives up archives where none brings a file', async () => {
    await using failing = await startServer((request, response) => {
      void text(request).then(() => {
        const message = 'An unexpected error occurred'
        response.writeHead(500, { 'Content-Type': 'application/json; charset=utf-8' })
        response.end(JSON.stringify({ statusCode: 500, error: 'Internal Server Error', message }))
        if (request.method === 'POST') posts++
      })
    })
    let posts = 0
    const names = numbered(50).map(({ name }) => name)
    const found = await contents(clientOf(failing).downloadMany(names))
    expect(found).to.deep.equal(names.map((name) => [name, 'unexpected']))
    expect(posts).to.be.within(1, 5)
  })

  it('goes on with a password that has changed', async () => {
    await store(numbered(3))
    const names = numbered(3).map(({ name }) => name)
    let password = 'of yesterday'
    const client = clientOf(service, {
      password: () => {
        const given = password
        password = login.password
        return given
      },
    })
    expect(await contents(client.downloadMany(names))).to.deep.equal(expected(numbered(3)))
  })

  it('aborts a single download by a signal of its own', async () => {
    await store([
      { name: 'a', body: 'A' },
      { name: 'b', body: 'x'.repeat(8 * largest) },
    ])
    const [, large] = await all(service.client.downloadMany(['a', 'b']))
    const stop = new AbortController()
    const download = await large!.download({ signal: stop.signal })
    stop.abort(new Error('Enough'))
    expect(await rejection(download.bytes())).to.include({ message: 'Enough' })
  })

  it('downloads one by one where the server does not know such a request', async () => {
    await store(numbered(3))
    await using older = await startServer((request, response) => {
      if (request.method === 'POST') {
        const message = 'Method not allowed. Use GET, HEAD, OPTIONS'
        response.writeHead(405, { 'Content-Type': 'application/json; charset=utf-8' })
        response.end(JSON.stringify({ statusCode: 405, error: 'Method Not Allowed', message }))
        return
      }
      void fetch(`http://127.0.0.1:${service.port}${request.url}`, { headers }).then(
        async (answer) => {
          response.writeHead(answer.status, Object.fromEntries(answer.headers))
          response.end(Buffer.from(await answer.arrayBuffer()))
        },
      )
    })
    const names = numbered(3).map(({ name }) => name)
    expect(await contents(clientOf(older).downloadMany(names))).to.deep.equal(expected(numbered(3)))
    expect(service.requests).to.deep.equal(names.map((name) => `GET /serve/${name}`))
  })

  it('ends with the reason of its signal', async () => {
    await store(numbered(2))
    const names = numbered(2).map(({ name }) => name)
    await using line = await startBadLine(service.port, ['silent'])
    const stop = new AbortController()
    const files = all(clientOf(line).downloadMany(names, { signal: stop.signal }))
    stop.abort(new Error('Enough'))
    expect(await rejection(files)).to.include({ message: 'Enough' })
    const late = clientOf(service).downloadMany(names, { signal: stop.signal })
    expect(await rejection(all(late))).to.include({ message: 'Enough' })
  })

  it('sends a wrong password once only', async () => {
    const wrong = clientOf(service, { password: 'wrong' })
    expect(await rejection(all(wrong.downloadMany(['a', 'b', 'c'])))).to.include({
      code: 'invalid-credentials',
    })
    expect(service.requests).to.have.length(1)
  })

  it('lets each file say that there is no server', async () => {
    const none = clientOf({ port: 1 }, { retries: 0 })
    expect(await contents(none.downloadMany(['a', 'b', 'c']))).to.deep.equal([
      ['a', 'no-answer'],
      ['b', 'no-answer'],
      ['c', 'no-answer'],
    ])
  })

  it('has the server stop when the caller does', async () => {
    const files = numbered(1000)
    await store(files.map(({ name }) => ({ name, body: 'x'.repeat(64 * 1024) })))
    const names = files.map(({ name }) => name)
    for await (const { name } of service.client.downloadMany(names)) if (name === names[3]) break
    // The service of the test ends only without requests under way.
    expect(await (await service.client.download(names[0]!)).text()).to.have.length(64 * 1024)
  })

  it('reads no further where bytes come after the end of an archive', async () => {
    const files = numbered(2)
    await store(files)
    const names = files.map(({ name }) => name)
    const archive = await archiveOf(names)
    let isLeft = false
    await using server = await startServer((request, response) => {
      void text(request).then(() => {
        response.setHeader('Content-Type', 'application/x-tar')
        response.write(archive)
        const more = setInterval(() => response.write(Buffer.alloc(4096)), 1)
        response.once('close', () => {
          clearInterval(more)
          isLeft = true
        })
      })
    })
    expect(await contents(clientOf(server).downloadMany(names))).to.deep.equal(expected(files))
    await until('the client has left', () => isLeft)
  })

  describe('believes no archive', () => {
    const cases: Readonly<Record<string, () => Promise<Buffer>>> = {
      'of other files': () => archiveOf(['other', 'b']),
      'that ends early': async () => (await archiveOf(['a', 'b'])).subarray(0, 1500),
      'with a byte that is wrong in a header': async () => {
        const archive = await archiveOf(['a', 'b'])
        archive[5] = 255
        return archive
      },
      'that is none': async () => Buffer.alloc(2048, 'no archive '),
      'whose files have no entity tags': async () =>
        Buffer.from(
          (await archiveOf(['a', 'b'])).toString('latin1').replaceAll('ETag', 'Tag '),
          'latin1',
        ),
      'of headers alone': async () => {
        const archive = await archiveOf(['a', 'b'])
        return Buffer.concat([archive.subarray(0, 1024), archive])
      },
      'that is empty': async () => Buffer.alloc(0),
    }
    for (const [title, makeArchive] of Object.entries(cases)) {
      it(title, async () => {
        await store(['a', 'b', 'other'].map((name) => ({ name, body: `content of ${name}` })))
        const archive = await makeArchive()
        await using server = await startServer((request, response) => {
          void text(request).then(() => {
            if (request.method === 'GET') return response.writeHead(500).end()
            response.setHeader('Content-Type', 'application/x-tar')
            return response.end(archive)
          })
        })
        const client = clientOf(server, { retries: 0 })
        const found = await contents(client.downloadMany(['a', 'b']))
        expect(found).to.deep.equal([
          ['a', 'unknown'],
          ['b', 'unknown'],
        ])
      })
    }
  })

  async function archiveOf(names: readonly string[]): Promise<Buffer> {
    const answer = await fetch(`http://127.0.0.1:${service.port}/serve/batch`, {
      method: 'POST',
      headers,
      body: JSON.stringify(names),
    })
    expect(answer.status).to.equal(200)
    return Buffer.from(await answer.arrayBuffer())
  }
})

/** A store in memory that cannot read these files. */
function storeWithout(broken: ReadonlySet<string>) {
  const store = createMemoryBlobStore()
  return {
    ...store,
    async open(...[key, options]: Parameters<typeof store.open>): Promise<OpenBlob | undefined> {
      if (broken.has(key.name)) throw new FileServiceError('store-unavailable', 'EIO')
      return store.open(key, options)
    },
  }
}
