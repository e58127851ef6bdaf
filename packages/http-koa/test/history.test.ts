import { createFileService, type FileHooks, type History } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import Koa from 'koa'
import { createRouter } from '../src/app.ts'
import { createHttpServer } from '../src/server/http-server.ts'
import { collectAudit, event } from './support/collected-audit.ts'
import { expectError } from './support/expect-error.ts'
import { listen } from './support/listening.ts'
import { customerRequest, request } from './support/request.ts'
import { auth, runApp, type RunningApp } from './support/running-app.ts'
import { recordSlots } from './support/watched-counters.ts'

const keepReplacedMs = 60_000

const replaced = async (app: RunningApp, name: string, times: number) => {
  for (let count = 0; count <= times; count++) await app.files.upload(name, `${count}`)
}

describe('the routes of earlier versions', () => {
  it('are not there where the store keeps none, and serve no present file as a version', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'history')
    await using app = await runApp({ store, keepReplacedMs })
    await app.files.upload('a', 'a')
    // A stranger's request, too: a path that exists would ask for credentials first.
    for (const send of [customerRequest, request]) {
      for (const [method, path] of [
        ['GET', '/versions'],
        ['GET', '/versions/a'],
        ['GET', '/deleted'],
        ['POST', '/restore'],
        ['POST', '/restore/a'],
      ] as const) {
        const answer = await exchange(app.port, send(method, path))
        expectError(answer)
        expect(answer.body).to.include('"Not Found"')
        expect(answer.status).to.equal(404)
      }
    }
    const answer = await exchange(app.port, customerRequest('GET', '/serve/a?version=1'))
    expect([answer.status, answer.body]).to.deep.equal([
      404,
      '{"statusCode":404,"error":"Not Found","message":"Version not found"}',
    ])
  })

  it('know no other methods', async () => {
    await using app = await runApp()
    for (const [path, allow] of [
      ['/versions/a', 'GET, HEAD, OPTIONS'],
      ['/deleted', 'GET, HEAD, OPTIONS'],
      ['/restore/a', 'POST, OPTIONS'],
    ] as const) {
      const answer = await exchange(app.port, customerRequest('PUT', path, {}, '{}'))
      expectError(answer)
      expect(answer.status).to.equal(405)
      expect(answer.headers.get('allow')).to.equal(allow)
    }
  })

  it('work under a prefix', async () => {
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials: createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }]),
      verifyPassword: (password, hash) => password === hash,
      keepReplacedMs,
    })
    const files = service.filesOf({ name: 'demo' })
    await files.upload('a b', 'content')
    await files.delete('a b')
    const app = new Koa().use(createRouter(service, { prefix: '/files/v1' }).routes())
    await using server = await listen(createHttpServer(app))
    const url = (path: string) => `${server.url}/files/v1${path}`
    expect(await (await fetch(url('/deleted'), { headers: auth })).json()).to.have.length(1)
    const answer = await fetch(url('/restore/a%20b'), { method: 'POST', headers: auth })
    expect(await answer.text()).to.equal('OK')
    expect((await files.stat('a b')).size).to.equal(7)
  })

  it('send a Link after 1,000 entries, and everything without a limit', async () => {
    await using app = await runApp({ keepReplacedMs })
    await replaced(app, 'a', 1002)
    const page = async (query: string) => {
      const { headers, body } = await exchange(
        app.port,
        customerRequest('GET', `/versions/a${query}`),
      )
      return { count: (JSON.parse(body) as unknown[]).length, link: headers.get('link') }
    }
    expect(await page('')).to.deep.equal({ count: 1002, link: null })
    const first = await page('?limit=5000')
    expect(first.count).to.equal(1000)
    const next = /^<(.*)>; rel="next"$/.exec(first.link ?? '')?.[1] ?? ''
    expect(await page(next)).to.deep.equal({ count: 2, link: null })
  })

  it('let scripts of other origins in, and read the Link', async () => {
    await using app = await runApp({ keepReplacedMs, corsOrigins: ['https://app.example.com'] })
    await replaced(app, 'a', 2)
    const origin = { Origin: 'https://app.example.com' }
    const answer = await exchange(
      app.port,
      customerRequest('GET', '/versions/a?limit=1', { ...origin }),
    )
    expect(answer.headers.get('access-control-allow-origin')).to.equal(origin.Origin)
    expect(answer.headers.get('access-control-expose-headers')).to.include('Link')
    expect(answer.headers.get('link')).to.include('before=')
  })

  it('take the slots of the customer, and none without credentials', async () => {
    const { taken, requestCounters } = recordSlots()
    await using app = await runApp({ requestCounters, keepReplacedMs })
    await replaced(app, 'a', 1)
    expectError(await exchange(app.port, request('GET', '/versions/a')))
    expect(taken).to.deep.equal([])
    await exchange(app.port, customerRequest('POST', '/restore/a'))
    expect(taken).to.deep.equal(['all', 'perCustomer demo'])
  })

  it('restore nothing when the connection ends before the body does, and record that', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit, keepReplacedMs })
    await app.files.upload('a', 'a')
    await app.files.delete('a')
    using connection = await openConnection(app.port)
    // What has arrived is a whole JSON text; only its length says that more was to come.
    connection.write(customerRequest('POST', '/restore/a', { 'Content-Length': 20 }, '{}'))
    connection.close()
    await until('it is recorded', () => trail.events.length === 1)
    expect(trail.stable()).to.deep.equal([
      event({ event: 'restore', outcome: 'aborted', reason: 'truncated-body', file: 'a' }),
    ])
    expect(await app.names()).to.deep.equal([])
  })

  it('notify the application of a restore', async () => {
    const restored: string[] = []
    const hooks: FileHooks = {
      onRestored: ({ from, file }) => restored.push(`${from} ${file.name}`),
    }
    await using app = await runApp({ hooks, keepReplacedMs })
    await app.files.upload('a', 'a')
    await app.files.delete('a')
    for (const [name, body] of [
      ['none', '{}'],
      ['a', '{"version":"none"}'],
      ['a', '{"as":"b"}'],
      ['a', ''],
    ] as const) {
      await exchange(app.port, customerRequest('POST', `/restore/${name}`, {}, body))
    }
    expect(restored).to.deep.equal(['a b', 'a a'])
  })

  it('close what they open of a version, also where the client has it, or leaves', async () => {
    const memory = createMemoryBlobStore()
    const counts = { opened: 0, closed: 0 }
    const open: History['open'] = async (key, options) => {
      const opened = await memory.history?.open(key, options)
      if (opened === undefined) return undefined
      counts.opened++
      let isOpen = true
      return {
        ...opened,
        async close() {
          if (isOpen) counts.closed++
          isOpen = false
        },
      }
    }
    if (memory.history === undefined) throw new Error('The memory store has no history')
    await using app = await runApp({
      store: { ...memory, history: { ...memory.history, open } },
      keepReplacedMs,
    })
    await replaced(app, 'a', 1)
    const listed = await exchange(app.port, customerRequest('GET', '/versions/a'))
    const version = /"version":"([^"]+)"/.exec(listed.body)?.[1] ?? ''
    const path = `/serve/a?version=${version}`
    const { headers } = await exchange(app.port, customerRequest('GET', path))
    using connection = await openConnection(app.port)
    connection.write(customerRequest('HEAD', path))
    await connection.answer({ toHead: true })
    for (const fields of [
      { 'If-None-Match': headers.get('etag') ?? '' },
      { 'If-Match': '"x"' },
      { Range: 'bytes=9-' },
    ]) {
      await exchange(app.port, customerRequest('GET', path, fields))
    }
    await until('all is closed', () => counts.opened > 4 && counts.closed === counts.opened)
  })
})
