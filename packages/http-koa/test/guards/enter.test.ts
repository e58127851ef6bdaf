import { createFileService, FileServiceError } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { createApp } from '../../src/app.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { collectAudit } from '../support/collected-audit.ts'
import { collectLog } from '../support/collected-log.ts'
import { listenAsDescribed } from '../support/listening.ts'
import { watchRequestCounters } from '../support/watched-counters.ts'
import { filePart, form, formRequest, formType, request, textPart } from '../support/request.ts'

const content = 'x'.repeat(300_000)
const put = (headers: Record<string, string> = {}, body = 'content') =>
  request('PUT', '/upload/new.txt', headers, body)
const large = formRequest(form(filePart('new.txt', content)))
const withField = formRequest(form(filePart('new.txt'), textPart('a', 'b')))
const batch = request(
  'POST',
  '/upload/batch',
  { 'Content-Type': formType },
  form(filePart('one'), filePart('two')),
)

/** The application with a login of its own; it counts what is asked of the login and of the counter of requests. */
async function runCounting(
  login: () => Promise<unknown> = async () => {},
  maxRequests = 10,
  onPut: () => void = () => {},
) {
  const memory = createMemoryBlobStore()
  const service = createFileService({
    store: { ...memory, put: async (...upload) => (onPut(), memory.put(...upload)) },
    credentials: createMemoryCredentialSource([]),
    verifyPassword: async () => false,
  })
  const counts = { logins: 0, asked: 0, changes: [] as string[] }
  const audit = collectAudit()
  const log = collectLog()
  const app = createApp(service, {
    log,
    audit: audit.audit,
    maxRequests,
    async authenticate() {
      counts.logins++
      await login()
      return service.filesOf({ name: 'demo' })
    },
    requestCounters: watchRequestCounters({
      onCount: (name) => void (name === 'all' && counts.asked++),
      onChange: (name, by) => void counts.changes.push(`${name} ${by}`),
    }),
  })
  return { ...(await listenAsDescribed(createHttpServer(app))), counts, audit, log }
}

const onceEach = ['all 1', 'perCustomer demo 1', 'all -1', 'perCustomer demo -1']

describe('createEnter', () => {
  const ways: readonly (readonly [title: string, data: Uint8Array, status: number])[] = [
    ['a form that the fast path reads', formRequest(form(filePart('new.txt'))), 200],
    ['a large form', large, 200],
    ['a form with a field', withField, 200],
    ['a broken form', formRequest('nothing'), 400],
    ['a batch', batch, 200],
    ['an upload', put(), 200],
    ['a large upload', put({}, content), 200],
    ['an upload that waits for permission', put({ Expect: '100-continue' }), 200],
    ['a download of no file', request('GET', '/serve/none'), 400],
    ['a list', request('GET', '/list'), 400],
  ]
  for (const [title, data, status] of ways) {
    it(`logs in once, and takes and gives back one slot, for ${title}`, async () => {
      await using app = await runCounting()
      const answer = await exchange(app.port, data)
      expect(answer.status).to.equal(status)
      await until('it is logged', () => app.log.lines.length === 1)
      await until('the slot is given back', () => app.counts.changes.length >= 4)
      expect(app.counts).to.deep.equal({ logins: 1, asked: 1, changes: onceEach })
    })
  }

  it('does so for each of the requests that come at once', async () => {
    await using app = await runCounting()
    using connection = await openConnection(app.port)
    connection.write(Buffer.concat([large, put(), withField, request('GET', '/serve/new.txt')]))
    await until('all are logged', () => app.log.lines.length === 4)
    await until('the slots are given back', () => app.counts.changes.length >= 16)
    expect(app.counts.logins).to.equal(4)
    expect(app.counts.changes).to.deep.equal([...onceEach, ...onceEach, ...onceEach, ...onceEach])
  })

  for (const [title, data] of [
    ['a form', large],
    ['an upload', put({}, content)],
  ] as const) {
    for (const kept of [0.001, 0.5, 0.999]) {
      it(`gives the slot back once where a client leaves after ${kept} of ${title}`, async () => {
        await using app = await runCounting()
        using connection = await openConnection(app.port)
        const head = data.indexOf('\r\n\r\n') + 4
        connection.write(data.subarray(0, Math.floor(head + (data.length - head) * kept)))
        await until('the request has a slot', () => app.counts.changes.length >= 2)
        connection.reset()
        await until('it is logged', () => app.log.lines.length === 1)
        await until('the slot is given back', () => app.counts.changes.length >= 4)
        expect(app.counts).to.deep.equal({ logins: 1, asked: 1, changes: onceEach })
        expect(app.audit.events.map(({ outcome }) => outcome)).to.deep.equal(['aborted'])
      })
    }
  }

  it('gives the slot back once where the store refuses what the fast path has sent to it', async () => {
    await using app = await runCounting(undefined, 10, () => {
      throw new FileServiceError('insufficient-storage', 'The disk has no room')
    })
    expect((await exchange(app.port, put())).status).to.equal(507)
    await until('the slot is given back', () => app.counts.changes.length >= 4)
    expect(app.counts).to.deep.equal({ logins: 1, asked: 1, changes: onceEach })
    expect(app.audit.events).to.have.length(1)
  })

  it('asks once for a slot where there is none, and answers that', async () => {
    await using app = await runCounting(undefined, 0)
    expect((await exchange(app.port, put())).status).to.equal(503)
    expect(app.counts).to.deep.equal({ logins: 1, asked: 1, changes: [] })
  })

  it('takes no slot for a login that is refused, which is recorded once', async () => {
    await using app = await runCounting(async () => {
      throw new FileServiceError('invalid-credentials', 'Not known')
    })
    expect((await exchange(app.port, put())).status).to.equal(400)
    expect(app.counts).to.deep.equal({ logins: 1, asked: 0, changes: [] })
    expect(app.audit.events.map(({ event }) => event)).to.deep.equal(['login'])
  })

  it('gives the slots back of clients that left while their logins waited', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using app = await runCounting(() => gate.promise)
    // Not so much that the server stops to read, and cannot see the end of the connection.
    const begun = [large.subarray(0, 1000), put({}, content).subarray(0, 1000)]
    for (const data of [...begun, withField, batch, request('GET', '/serve/a')]) {
      const before = app.counts.logins
      using connection = await openConnection(app.port)
      connection.write(data)
      await until('the login waits', () => app.counts.logins > before)
      connection.reset()
    }
    await until('the connections are gone', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('all slots are given back', () => app.counts.changes.length >= 20)
    expect(app.counts.logins).to.equal(5)
    const sum = app.counts.changes.reduce(
      (total, text) => total + Number(text.split(' ').at(-1)),
      0,
    )
    expect([app.counts.changes.length, sum]).to.deep.equal([20, 0])
    const uploads = app.audit.events.map(({ event, outcome }) => `${event} ${outcome}`)
    expect(uploads).to.deep.equal(Array.from({ length: 4 }, () => 'upload aborted'))
  })
})
