import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { generateStore } from '../support/generated-store.ts'
import { customerRequest, form, formRequest, filePart, request } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

describe('createAccessLog', () => {
  it('writes one line a request', async () => {
    await using app = await runApp()
    await exchange(app.port, formRequest(form(filePart('a.txt'))))
    await exchange(app.port, request('GET', '/nowhere?q=1', { 'X-Request-Id': 'from-a-proxy' }))
    await until('both were logged', () => app.log.lines.length === 2)
    const [upload, unknown] = app.log.lines
    expect(upload).to.deep.include({ level: 'info', message: 'request' })
    expect(upload?.fields).to.include({
      method: 'POST',
      path: '/upload',
      status: 200,
      customer: 'demo',
      address: '127.0.0.1',
    })
    const written = JSON.parse(JSON.stringify(upload?.fields)) as object
    expect(written).to.not.have.any.keys('aborted', 'reason', 'login', 'link')
    expect(unknown?.fields).to.include({
      requestId: 'from-a-proxy',
      path: '/nowhere',
      status: 404,
      reason: 'Not Found',
    })
  })

  it('counts all bytes of a request and its answer, the head and small bodies among them', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port)
    const first = customerRequest('PUT', '/upload/a', {}, 'body')
    connection.write(first)
    await until('the first was logged', () => app.log.lines.length === 1)
    await until('the first was answered', () => connection.received().length > 200)
    const firstAnswer = connection.received().length
    const second = customerRequest('GET', '/serve/a')
    connection.write(second)
    await until('the second was logged', () => app.log.lines.length === 2)
    await until('the second was answered', () => connection.received().endsWith('body'))
    const counts = app.log.lines.map(({ fields }) => [fields['bytesIn'], fields['bytesOut']])
    expect(counts).to.deep.equal([
      [first.length, firstAnswer],
      [second.length, connection.received().length - firstAnswer],
    ])
  })

  it('says that Authorization is not read, which the client does not learn', async () => {
    await using app = await runApp()
    const basic = { Authorization: 'Basic ZGVtbzpzZXNhbWU=' }
    const answer = await exchange(app.port, request('GET', '/list', basic))
    expect(answer.body).to.include('"message":"No auth headers"')
    await until('the request was logged', () => app.log.lines.length === 1)
    const reason = String(app.log.lines[0]?.fields['reason'])
    expect(reason).to.match(/^Authorization is not read: .* x-auth-name, .* x-auth-password$/)
    expect(reason).not.to.include('ZGVt')
  })

  it('marks answers that the client did not get', async () => {
    const store = generateStore({ size: 2 ** 30 })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/serve/large'))
    await until('the answer began', () => connection.received().length > 0)
    connection.reset()
    await until('the request was logged', () => app.log.lines.length === 1)
    expect(app.log.lines[0]?.fields).to.include({ status: 200, aborted: true })
    expect(app.log.lines[0]?.level).to.equal('info')
  })

  it('marks uploads that the client gave up, without the status of an answer that never was', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port)
    connection.write(customerRequest('PUT', '/upload/a', { 'Content-Length': 10 }, 'body'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    connection.reset()
    await until('the request was logged', () => app.log.lines.length === 1)
    expect(app.log.lines[0]?.fields).to.include({ path: '/upload/a', aborted: true })
    expect(app.log.lines[0]?.fields, 'what no answer had').to.have.property('status', undefined)
    expect(app.log.lines[0]?.level).to.equal('info')
  })

  it('writes a line for the one of several requests in a row that was being answered when the connection went', async () => {
    const store = generateStore({ size: 2 ** 30 })
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    const get = customerRequest('GET', '/serve/large')
    connection.write(Buffer.concat([get, get, get]))
    await until('the first answer began', () => connection.received().length > 0)
    connection.reset()
    await until('it was logged', () => app.log.lines.length > 0)
    await until('the connection is gone', async () => (await app.connections()) === 0)
    expect(app.log.lines.map(({ fields }) => fields['aborted'])).to.deep.equal([true])
  })

  it("keeps a proxy's id only if it is harmless", async () => {
    await using app = await runApp()
    for (const [given, isKept] of [
      ['a-B_9.:', true],
      ['x'.repeat(128), true],
      ['x'.repeat(129), false],
      ['a b', false],
      ['', false],
      ['{"level":"error"}', false],
      ['a;b', false],
    ] as const) {
      const answer = await exchange(app.port, request('GET', '/ping', { 'X-Request-Id': given }))
      const id = answer.headers.get('x-request-id') ?? ''
      expect(id === given, given).to.equal(isKept)
      if (!isKept) expect(id).to.match(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
    }
  })

  it('never holds a credential, wherever a client puts it', async () => {
    await using app = await runApp()
    const secret = auth['x-auth-password']
    const wrong = 'open-barley'
    const targets = [
      `/list?x-auth-name=demo&x-auth-password=${secret}`,
      `http://demo:${secret}@service.test/list`,
      `http://demo:${secret}@[::1/list`,
      `//demo:${secret}@service.test/list?${secret}#${secret}`,
    ]
    // What is no HTTP is answered before there is a request to log, and has no id.
    let requests = 0
    const send = async (bytes: Buffer) => {
      if ((await exchange(app.port, bytes)).headers.has('x-request-id')) requests++
    }
    for (const target of targets) await send(request('GET', target))
    for (const headers of [
      { ...auth, 'x-auth-password': wrong },
      { ...auth, 'X-AUTH-PASSWORD': secret },
      { 'x-auth-name': 'demo', Authorization: `Basic ${secret}` },
      { ...auth, Cookie: `session=${secret}` },
      { ...auth, Referer: `https://demo:${secret}@a.test/` },
      { ...auth, 'User-Agent': secret },
    ]) {
      await send(request('GET', '/list', headers))
    }
    expect(requests).to.be.at.least(7)
    await until('all were logged', () => app.log.lines.length === requests)
    const text = JSON.stringify(app.log.lines)
    expect(text).to.not.include(secret)
    expect(text).to.not.include(wrong)
  })
})
