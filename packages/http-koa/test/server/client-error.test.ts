import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

describe('answerClientError', () => {
  it('reaches a client that sends on and on behind its malformed bytes', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('PUT', '/upload/a', { 'Transfer-Encoding': 'chunked' }))
    connection.write('zz\r\n')
    for (let i = 0; i < 20; i++) connection.write(Buffer.alloc(100_000, 'x'))
    const answer = await connection.answer()
    expectError(answer)
    expect(answer.status).to.equal(400)
    await until('the connection ended', async () => (await app.connections()) === 0)
    expect(await app.names()).to.deep.equal([])
  })

  it('keeps quiet until the requests before are answered', async () => {
    const gate = Promise.withResolvers<undefined>()
    const store = watchStore(() => gate.promise)
    await using app = await runApp({ store })
    using connection = await openConnection(app.port, { staysOpen: true })
    // The length is too small by five bytes.
    connection.write(customerRequest('PUT', '/upload/a', { 'Content-Length': 4 }, 'body-tail'))
    await until('the store has the upload', () => store.puts() === 1)
    gate.resolve(undefined)
    await until('the connection ended', () => connection.isClosed())
    const received = connection.received()
    expect(received).to.match(/^HTTP\/1\.1 200 OK\r\n/)
    expect(received).to.match(/OKHTTP\/1\.1 400 Bad Request\r\n[^]*"Malformed request"}$/)
    expect(await app.names()).to.deep.equal(['a'])
  })

  it('drops the upload whose body turns out malformed', async () => {
    const store = watchStore()
    await using app = await runApp({ store })
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(customerRequest('PUT', '/upload/a', { 'Transfer-Encoding': 'chunked' }))
    connection.write('4\r\nbody\r\n')
    await until('the store has the first bytes', () => store.taken() === 4)
    connection.write('zz\r\n')
    expect((await connection.answer()).body).to.include('"message":"Truncated body"')
    connection.halfClose()
    await until('the upload ended', () => store.puts() === 0)
    expect(await app.names()).to.deep.equal([])
  })
})
