import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { createClient, type Client } from '../src/index.ts'
import { all } from './support/all.ts'
import { contentOf, inChunks, mebibyte } from './support/content.ts'
import { clientOf, login } from './support/running-service.ts'
import { startProxy } from './support/start-proxy.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

const large = contentOf(17 * mebibyte)

/** All that a client asks of a server at `base`. */
const questions: Readonly<Record<string, (client: Client, base: string) => Promise<unknown>>> = {
  ping: (client) => client.ping(),
  'upload of a small file': (client) => client.upload('a', 'b'),
  'upload that creates': (client) => client.upload('a', 'b', { createOnly: true }),
  'upload in pieces': (client) => client.upload('a', large),
  'upload of a stream': (client) => client.upload('a', inChunks(large, mebibyte)),
  'upload that goes on': (client, base) =>
    client.upload('a', large, { uploadUrl: `${base}/resumable/1` }),
  uploadMany: (client) => all(client.uploadMany([{ name: 'a', body: 'b' }])),
  discardUpload: (client, base) => client.discardUpload(`${base}/resumable/1`),
  list: (client) => all(client.list()),
  listDetails: (client) => all(client.listDetails()),
  stat: (client) => client.stat('a'),
  'rounded stat': (client) => client.stat('a', { isRounded: true }),
  download: (client) => client.download('a'),
  'download of a part': (client) => client.download('a', { start: 1, end: 2 }),
  delete: (client) => client.delete('a'),
  rename: (client) => client.rename('a', 'b'),
  versions: (client) => all(client.versions('a')),
  deleted: (client) => all(client.deleted()),
  restore: (client) => client.restore('a'),
  deleteMany: (client) => all(client.deleteMany(['a'])),
  link: (client) => client.link('a'),
  revokeLinks: (client) => client.revokeLinks(),
  usage: (client) => client.usage(),
}

const html = '<!doctype html><title>Wi-Fi</title>Sign in'
const page = {
  'Content-Type': 'text/html',
  ETag: '"1"',
  'Last-Modified': new Date(0).toUTCString(),
}

const foreign: readonly (readonly [string, number, OutgoingHttpHeaders, string])[] = [
  ['the page of a captive portal', 200, page, html],
  ['an answer without words', 204, {}, ''],
  ['the OK of any server', 200, { 'Content-Type': 'application/json' }, '"OK"'],
  ['a promise of a proxy', 202, { Location: '/queue/1' }, 'OK'],
]

describe('The answer of another server', function () {
  this.timeout(60_000)

  for (const [what, status, headers, body] of foreign) {
    for (const [question, ask] of Object.entries(questions)) {
      it(`to ${question} is an error, where it is ${what}`, async () => {
        let asked = 0
        await using server = await startServer((request, response) => {
          asked++
          request.resume().on('end', () => response.writeHead(status, headers).end(body))
        })
        const error = await rejection(ask(clientOf(server), `http://127.0.0.1:${server.port}`))
        expect(error).to.include({ code: 'unknown', status })
        expect(error.message).to.match(
          /^There is no holdfast at this address: the server there answered 20[024]/,
        )
        // It is not asked again: what answered so would answer the same.
        expect(asked).to.equal(1)
      })
    }
  }

  const details = { name: 'a', size: 1, modified: new Date(0).toJSON(), type: 'x', etag: '"1"' }
  const { size: _, ...sizeless } = details
  const usage = { files: 1, bytes: 1, unfinished: { uploads: 0, bytes: 0 } }
  const link = { url: 'http://localhost/serve/a?x', expires: details.modified }
  const misshapen: readonly (readonly [question: string, body: unknown])[] = [
    ...[[1], [{}], [null], {}].map((body) => ['list', body] as const),
    ...['listDetails', 'stat'].flatMap((question) =>
      [
        ['a'],
        [sizeless],
        [{ ...details, size: '1' }],
        [{ ...details, size: -1 }],
        [{ ...details, size: 1.5 }],
        [{ ...details, name: 1 }],
        [{ ...details, modified: 'yesterday' }],
        [{ ...details, type: {} }],
        [{ ...details, etag: null }],
      ].map((body) => [question, body] as const),
    ),
    ...[
      { ...usage, files: '1\u001b[2J' },
      { ...usage, bytes: null },
      { ...usage, quota: 'x' },
      { ...usage, maxFiles: -1 },
      { files: 1, bytes: 1 },
      { ...usage, unfinished: { uploads: 1 } },
    ].map((body) => ['usage', body] as const),
    ...[
      { ...link, url: 1 },
      { ...link, url: 'http://[' },
      { ...link, expires: 'never' },
    ].map((body) => ['link', body] as const),
  ]
  for (const [question, body] of misshapen) {
    const ask = questions[question] ?? expect.fail(question)
    const sent = JSON.stringify(body)
    it(`to ${question} is an error, where it is ${sent}`, async () => {
      await using server = await startServer((request, response) => {
        request.resume().on('end', () => response.end(sent))
      })
      const address = `http://127.0.0.1:${server.port}`
      const error = await rejection(ask(clientOf(server), address))
      expect(error).to.include({ code: 'unknown', status: 200 })
      expect(error.message).to.match(
        /^There is no holdfast at this address: the server there answered 200/,
      )
    })
  }

  it('stands in the error, with its beginning', async () => {
    await using server = await startServer((_, response) => void response.end('x'.repeat(9999)))
    const error = await rejection(clientOf(server).upload('a', 'b'))
    expect(error.message).to.equal(
      `There is no holdfast at this address: the server there answered 200: ${'x'.repeat(200)}`,
    )
  })
})

describe('An error of another server', function () {
  this.timeout(60_000)
  const none = 'There is no holdfast at this address: the server there answered 404'
  const proxy = 'Something in front of the server, such as a proxy,'
  const json = { 'Content-Type': 'application/json' }
  const errors: readonly (readonly [number, OutgoingHttpHeaders, string, string])[] = [
    [404, page, html, none],
    [404, { 'Content-Type': 'text/plain' }, '404 page not found\n', `${none}: 404 page not found`],
    [404, json, '{"message":"Not Found"}', `${none}: {"message":"Not Found"}`],
    [
      404,
      json,
      '{"statusCode":404,"error":"Not Found","message":"Route GET:/list not found"}',
      `${none}: Route GET:/list not found`,
    ],
    [404, {}, '', none],
    [413, page, html, `${proxy} does not accept a request as large as this (413)`],
    [413, {}, ' <html>', `${proxy} does not accept a request as large as this (413)`],
    [502, page, html, `${proxy} cannot reach the server (502)`],
    [403, page, html, `${proxy} refuses this request (403)`],
    [301, { ...page, Location: 'https://x/' }, html, `${none.slice(0, -3)}301`],
  ]
  for (const [status, headers, body, message] of errors) {
    it(`is said in a sentence, where it is ${status} with ${JSON.stringify(body)}`, async () => {
      await using server = await startServer((request, response) => {
        request.resume().on('end', () => response.writeHead(status, headers).end(body))
      })
      const client = clientOf(server, { retries: 0 })
      for (const asked of [
        client.usage(),
        client.upload('a', 'b'),
        client.deleteMany(['a']).next(),
      ])
        expect(await rejection(asked)).to.include({ code: 'unknown', status, message })
    })
  }

  it('that is cut off is no answer', async () => {
    await using server = await startServer((request, response) => {
      request.resume()
      response.writeHead(400, { 'Content-Length': 80 }).write('{"error":')
      setTimeout(() => response.destroy(), 20)
    })
    const url = `http://127.0.0.1:${server.port}`
    const error = await rejection(createClient({ url, ...login, retries: 0 }).download('a'))
    expect(error).to.have.property('code', 'no-answer')
  })

  it('that is not of HTTP says that there is none', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    expect(await rejection(clientOf({ port }).usage())).to.include({
      code: 'unknown',
      message: 'There is no holdfast at this address: the program there does not speak HTTP',
    })
    server.close()
  })
})

describe('A reverse proxy before the service', function () {
  this.timeout(60_000)
  const service = useService()

  it('changes nothing, also where the service has a path of its own there', async () => {
    const pathOf = (url: string) => url.replace(/^\/files/, '')
    await using proxy = await startProxy(service.port, undefined, pathOf)
    const url = `http://127.0.0.1:${proxy.port}/files`
    const client = createClient({ ...login, url })
    for (const name of ['a', 'small']) await client.upload(name, 'b')
    await client.upload('large', large)
    await client.upload('stream', inChunks(large, mebibyte))
    for await (const { error } of client.uploadMany([{ name: 'b', body: 'c' }])) {
      expect(error).to.equal(undefined)
    }
    await client.ping()
    expect(await all(client.list())).to.have.length(5)
    expect(await client.stat('large', { isRounded: true })).to.include({ size: large.length })
    expect(large.equals(await (await client.download('large')).bytes())).to.equal(true)
    expect(await (await client.download('small', { start: 0, end: 1 })).text()).to.equal('b')
    expect((await client.link('small')).url).to.be.a('string')
    await client.delete('small')
    expect(await client.usage()).to.include({ files: 4 })
  })
})
