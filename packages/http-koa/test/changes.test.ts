import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createFileService, type FileHooks } from '@holdfast/core'
import Koa from 'koa'
import { createRouter } from '../src/app.ts'
import { createHttpServer } from '../src/server/http-server.ts'
import { collectAudit, event } from './support/collected-audit.ts'
import { expectError } from './support/expect-error.ts'
import { listen } from './support/listening.ts'
import { customerRequest, request } from './support/request.ts'
import { runApp, auth } from './support/running-app.ts'
import { recordSlots } from './support/watched-counters.ts'

const batch = (names: readonly string[]) =>
  customerRequest('POST', '/delete/batch', {}, JSON.stringify(names))
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `file ${index}`)
const nextTick = () => new Promise((resolve) => void setImmediate(resolve))

/** A store that says which names it was asked to delete, and waits before it does so. */
function createSlowStore(before: (name: string) => Promise<unknown>) {
  const store = createMemoryBlobStore()
  const begun: string[] = []
  const slowStore: typeof store = {
    ...store,
    async delete(key) {
      begun.push(key.name)
      await before(key.name)
      return store.delete(key)
    },
  }
  return { store: slowStore, begun }
}

async function fill(app: Awaited<ReturnType<typeof runApp>>, names: readonly string[]) {
  for (const name of names) await app.files.upload(name, new Uint8Array(1))
}

describe('POST /delete/batch', () => {
  it('deletes eight files at a time, and answers in the order of the names', async () => {
    const names = numbered(30)
    const eight = Promise.withResolvers<undefined>()
    let underWay = 0
    let most = 0
    const { store, begun } = createSlowStore(async () => {
      most = Math.max(most, ++underWay)
      if (begun.length === 8) eight.resolve(undefined)
      await eight.promise
      await nextTick()
      underWay--
    })
    await using app = await runApp({ store })
    await fill(app, names)
    const { body } = await exchange(app.port, batch(names))
    const deleted = [...body.matchAll(/"filename":"([^"]*)","statusCode":200/g)]
    expect(deleted.map(([, name]) => name)).to.deep.equal(names)
    expect(most).to.equal(8)
  })

  it('deletes equal names one after the other', async () => {
    let underWay = 0
    const { store } = createSlowStore(async () => {
      expect(++underWay).to.equal(1)
      await nextTick()
      underWay--
    })
    await using app = await runApp({ store })
    await fill(app, ['a'])
    const { body } = await exchange(app.port, batch(['a', 'a', 'a']))
    const statuses = [...body.matchAll(/"statusCode":(\d+)/g)].map(([, status]) => status)
    expect(statuses).to.deep.equal(['200', '400', '400'])
  })

  it('answers a line as soon as its file is gone, while others are not', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { store } = createSlowStore(async (name) => {
      if (name === 'b') await gate.promise
    })
    await using app = await runApp({ store })
    await fill(app, ['a', 'b'])
    using connection = await openConnection(app.port)
    connection.write(batch(['a', 'b']))
    await connection.saw('{"filename":"a","statusCode":200,"message":"OK"}\n')
    expect(await app.names()).to.deep.equal(['b'])
    gate.resolve(undefined)
    await connection.saw('{"filename":"b","statusCode":200,"message":"OK"}\n')
  })

  it('begins no further deletion when the client leaves; those under way are recorded', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { store, begun } = createSlowStore(() => gate.promise)
    const { audit, events } = collectAudit()
    await using app = await runApp({ store, audit })
    const names = numbered(100)
    await fill(app, names)
    using connection = await openConnection(app.port)
    connection.write(batch(names))
    await until('deletions are under way', () => begun.length === 8)
    connection.reset()
    await until('the server has noticed', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the deletions are recorded', () => events.length === 8)
    await nextTick()
    expect(begun).to.have.length(8)
    expect(await app.names()).to.have.length(92)
    expect(events.every(({ outcome }) => outcome === 'ok')).to.equal(true)
  })

  it('has one line in the audit trail for each name, and one for a body that is refused', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit })
    await fill(app, ['a', 'b'])
    await exchange(app.port, batch(['a', '..', 'none', 'b']))
    await exchange(app.port, customerRequest('POST', '/delete/batch', {}, '{}'))
    const refused = { event: 'delete', outcome: 'refused' } as const
    expect(trail.stable()).to.deep.equal([
      event({ event: 'delete', file: 'a' }),
      event({ ...refused, reason: 'invalid-file-name', file: '..' }),
      event({ ...refused, reason: 'not-found', file: 'none' }),
      event({ event: 'delete', file: 'b' }),
      event({ ...refused, reason: 'invalid-field' }),
    ])
  })

  it('is answered 500 where the trail fails at the first name, and ends with a line later', async () => {
    let calls = 0
    const failAt = (nth: number) => async () => {
      if (++calls === nth) throw new Error('The trail is full')
    }
    for (const nth of [1, 3]) {
      calls = 0
      await using app = await runApp({ audit: failAt(nth) })
      await fill(app, numbered(20))
      const answer = await exchange(app.port, batch(numbered(20)))
      if (nth === 1) {
        expectError(answer)
        expect(answer.status).to.equal(500)
        // No further deletion begins.
        expect((await app.names()).length).to.be.at.least(12)
        continue
      }
      const lines = answer.body.trimEnd().split('\n')
      expect(lines).to.have.length(3)
      expect(lines[2]).to.equal(
        '{"statusCode":500,"error":"Internal Server Error","message":"An unexpected error occurred"}',
      )
    }
  })
})

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
