import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

/** Which bodies came, in order, where each is one line. */
const bodiesIn = (received: string) => received.split(/HTTP\/1\.1 \d{3} [^]*?\r\n\r\n/).slice(1)

describe('inOrder', () => {
  it('answers a hundred requests in one segment, in order, whole', async () => {
    await using app = await runApp()
    const names = Array.from({ length: 50 }, (_, index) => `file-${index}`)
    using connection = await openConnection(app.port)
    connection.write(
      Buffer.concat(
        names.flatMap((name) => [
          customerRequest('PUT', `/upload/${name}`, {}, `content of ${name}`),
          customerRequest('GET', `/serve/${name}`),
        ]),
      ),
    )
    await until('all came', () => bodiesIn(connection.received()).length === 100)
    const expected = names.flatMap((name) => ['OK', `content of ${name}`])
    await until('all are whole', () => bodiesIn(connection.received()).at(-1) === expected.at(-1))
    expect(bodiesIn(connection.received())).to.deep.equal(expected)
  })

  it('processes a request only when the one before has been answered', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore(() => gate.promise)
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('PUT', '/upload/a', {}, 'body'))
    connection.write(customerRequest('GET', '/serve/a'))
    connection.write(customerRequest('DELETE', '/delete/a'))
    connection.write(customerRequest('GET', '/ping'))
    await until('the store has the upload', () => store.puts() === 1)
    gate.resolve(undefined)
    await until('the last answer came', () => connection.received().includes('pong'))
    expect(bodiesIn(connection.received())).to.deep.equal(['OK', 'body', 'OK', 'pong'])
  })

  it('processes nothing after a response with which Node itself ends the connection', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port)
    for (const name of ['a', 'b'])
      connection.write(customerRequest('PUT', `/upload/${name}`, {}, 'x'))
    await until('both are stored', () => bodiesIn(connection.received()).length === 2)
    const headers = { Expect: '100-continue', 'If-None-Match': '*' }
    connection.write(
      Buffer.concat([
        customerRequest('PUT', '/upload/a', headers, 'body'),
        customerRequest('DELETE', '/delete/b'),
      ]),
    )
    await until('the connection ended', () => connection.isClosed())
    expect(
      connection
        .received()
        .match(/HTTP\/1\.1 \d+/g)
        ?.at(-1),
    ).to.equal('HTTP/1.1 412')
    expect(await app.names()).to.deep.equal(['a', 'b'])
  })

  it('processes nothing of a client that has left meanwhile', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore(() => gate.promise)
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('PUT', '/upload/a', {}, 'body'))
    connection.write(customerRequest('PUT', '/upload/b', {}, 'body'))
    await until('the store has the upload', () => store.puts() === 1)
    connection.reset()
    await until('the connection is gone', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the upload ended', () => store.puts() === 0)
    await until('it was logged', () => app.log.lines.length > 0)
    expect(app.log.lines.map(({ fields }) => fields['path'])).to.deep.equal(['/upload/a'])
  })

  it('does not count it as idleness to wait for a turn', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore(() => gate.promise)
    await using app = await runApp({ store, idleTimeoutMs: 100 })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('PUT', '/upload/a', {}, 'body'))
    connection.write(customerRequest('PUT', '/upload/b', { 'Content-Length': 4 }))
    await until('the store has the upload', () => store.puts() === 1)
    const begin = Date.now()
    await until('four timeouts have passed', () => Date.now() - begin > 400)
    connection.write('body')
    gate.resolve(undefined)
    await until('both were stored', async () => (await app.names()).join() === 'a,b')
  })
})
