import { createFileService, type FileHooks } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import Koa from 'koa'
import { createRouter } from '../../src/router.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { collectAudit, event } from '../support/collected-audit.ts'
import { expectError } from '../support/expect-error.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'
import { recordSlots } from '../support/watched-counters.ts'

const toB = '{"to":"b"}'

describe('POST /rename/:filename', () => {
  it('is not there where the store cannot rename', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'rename')
    await using app = await runApp({ store })
    await app.files.upload('a', 'a')
    // A stranger's request, too: a path that exists would ask for credentials first.
    for (const send of [customerRequest, request]) {
      const answer = await exchange(app.port, send('POST', '/rename/a', {}, toB))
      expectError(answer)
      expect(answer.status).to.equal(404)
    }
    expect(await app.names()).to.deep.equal(['a'])
  })

  it('knows no other method', async () => {
    await using app = await runApp()
    for (const path of ['/rename', '/rename/', '/rename/a']) {
      const answer = await exchange(app.port, customerRequest('PUT', path, {}, toB))
      expectError(answer)
      expect(answer.status).to.equal(405)
      expect(answer.headers.get('allow')).to.equal('POST, OPTIONS')
    }
  })

  it('works under a prefix', async () => {
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials: createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }]),
      verifyPassword: (password, hash) => password === hash,
    })
    const files = service.filesOf({ name: 'demo' })
    await files.upload('a b', 'content')
    const app = new Koa().use(createRouter(service, { prefix: '/files/v1' }).routes())
    await using server = await listen(createHttpServer(app))
    const url = `${server.url}/files/v1/rename/a%20b`
    const answer = await fetch(url, { method: 'POST', headers: auth, body: toB })
    expect(await answer.text()).to.equal('OK')
    expect((await files.stat('b')).size).to.equal(7)
  })

  it('takes a body that comes in pieces, and one by HTTP/1.0', async () => {
    await using app = await runApp()
    await app.files.upload('a', 'a')
    using inPieces = await openConnection(app.port)
    inPieces.write(
      customerRequest('POST', '/rename/a', { 'Transfer-Encoding': 'chunked' }),
      '6\r\n{"to":\r\n',
      '4\r\n"b"}\r\n0\r\n\r\n',
    )
    expect((await inPieces.answer()).body).to.equal('OK')
    const old = customerRequest('POST', '/rename/b', {}, '{"to":"c"}').toString('latin1')
    expect((await exchange(app.port, old.replace('HTTP/1.1', 'HTTP/1.0'))).body).to.equal('OK')
    expect(await app.names()).to.deep.equal(['c'])
  })

  it('renames nothing when the connection ends before the body does, and records that', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit })
    await app.files.upload('a', 'a')
    using connection = await openConnection(app.port)
    // What has arrived is a whole JSON text; only its length says that more was to come.
    connection.write(customerRequest('POST', '/rename/a', { 'Content-Length': 20 }, toB))
    connection.close()
    await until('it is recorded', () => trail.events.length === 1)
    expect(trail.stable()).to.deep.equal([
      event({ event: 'rename', outcome: 'aborted', reason: 'truncated-body', file: 'a' }),
    ])
    expect(await app.names()).to.deep.equal(['a'])
  })

  it('refuses a body that is not UTF-8, or that is coded', async () => {
    await using app = await runApp()
    await app.files.upload('a', 'a')
    const notUtf8 = await exchange(
      app.port,
      customerRequest('POST', '/rename/a', {}, '{"to":"\xff"}'),
    )
    expectError(notUtf8)
    expect(notUtf8.status).to.equal(400)
    const coded = customerRequest('POST', '/rename/a', { 'Transfer-Encoding': 'gzip, chunked' })
    const answer = await exchange(app.port, coded)
    expectError(answer)
    expect(answer.status).to.equal(501)
    expect(await app.names()).to.deep.equal(['a'])
  })

  it('takes the slots of the customer, and none without credentials', async () => {
    const { taken, requestCounters } = recordSlots()
    await using app = await runApp({ requestCounters })
    await app.files.upload('a', 'a')
    expectError(await exchange(app.port, request('POST', '/rename/a', {}, toB)))
    expect(taken).to.deep.equal([])
    await exchange(app.port, customerRequest('POST', '/rename/a', {}, toB))
    expect(taken).to.deep.equal(['all', 'perCustomer demo'])
  })

  it('notifies the application of a rename, and of none that changed nothing', async () => {
    const renamed: string[] = []
    const hooks: FileHooks = { onRenamed: ({ from, file }) => renamed.push(`${from} ${file.name}`) }
    await using app = await runApp({ hooks })
    await app.files.upload('a', 'a')
    await app.files.upload('taken', 'x')
    for (const [name, body] of [
      ['a', '{"to":"a"}'],
      ['a', '{"to":"taken","createOnly":true}'],
      ['none', toB],
      ['a', toB],
    ] as const) {
      await exchange(app.port, customerRequest('POST', `/rename/${name}`, {}, body))
    }
    expect(renamed).to.deep.equal(['a b'])
  })
})
