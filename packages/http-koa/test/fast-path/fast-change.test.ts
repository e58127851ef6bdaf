import { createHash } from 'node:crypto'
import { FileServiceError } from '@holdfast/core'
import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { event } from '../support/collected-audit.ts'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  request,
  textPart,
} from '../support/request.ts'
import { answers, runBoth, stable } from './both-ways.ts'

const put = (headers: Record<string, string> = {}, body = 'content', name = 'new.txt') =>
  customerRequest('PUT', `/upload/${name}`, headers, body)
const remove = (name = 'a.bin', headers: Record<string, string> = {}, body = '') =>
  customerRequest('DELETE', `/delete/${name}`, headers, body)
const simple = (name = 'new.txt') => formRequest(form(filePart(name)))
const digest = `sha-256=:${createHash('sha256').update('content').digest('base64')}:`

const requests: readonly (readonly [title: string, data: Uint8Array, isFast: boolean])[] = [
  ['an upload as it is', put(), true],
  ['an upload with an id of a proxy', put({ 'X-Request-Id': 'abc' }), true],
  ['an upload as the last of a connection', put({ Connection: 'close' }), true],
  ['an empty upload', put({ 'Content-Length': '0' }, ''), false],
  ['an upload in chunks', put({ 'Transfer-Encoding': 'chunked' }, ''), false],
  ['an upload with a digest', put({ 'Content-Digest': digest }), false],
  ['an upload that may not replace', put({ 'If-None-Match': '*' }), false],
  ['a part of a file', put({ 'Content-Range': 'bytes 0-6/7' }), false],
  ['an upload of an escaped name', put({}, 'content', 'a%20b'), false],
  ['an upload of a name that is refused', put({}, 'content', '..'), false],
  ['an upload of a name that is too long', put({}, 'content', 'x'.repeat(256)), false],
  ['an upload with a query', put({}, 'content', 'a?x=1'), false],
  ['an upload by a stranger', request('PUT', '/upload/a', {}, 'content'), false],
  ['a simple form', simple(), true],
  ['a simple form with a name that is refused', simple('..'), false],
  ['a form with a field', formRequest(form(filePart('new.txt'), textPart('a', 'b'))), false],
  ['a form with its digest', formRequest(form(textPart('sha256', 'x'), filePart('n'))), false],
  ['a broken form', formRequest('nothing'), false],
  ['a form to another path', customerRequest('POST', '/upload/x', {}, 'content'), false],
  ['a deletion of no file', remove('none'), false],
  ['a deletion with a body of no bytes', remove('none', { 'Content-Length': '0' }), false],
  ['a deletion with a body', remove('none', {}, 'body'), false],
  ['a deletion of an escaped name', remove('a%2ebin'), false],
]

describe('createFastChange', () => {
  for (const [title, data, isFast] of requests) {
    it(`answers ${title} as the application does, is logged and recorded like it`, async () => {
      await using both = await runBoth()
      const isChunked = Buffer.from(data).includes('chunked')
      const body = isChunked ? Buffer.concat([data, Buffer.from('0\r\n\r\n')]) : data
      await exchange(both.fast.port, body)
      await until('it is logged', () => both.log.lines.length > 0)
      const [handled, recorded] = [both.handled(), both.audit.events.length]
      const { one, other, lines } = await answers(both, body)
      expect(stable(one)).to.deep.equal(stable(other))
      expect(lines[0]).to.deep.equal(lines[1])
      expect(both.handled() - handled, 'answered by the application').to.equal(isFast ? 1 : 2)
      const [first, second, ...more] = both.audit.stable().slice(recorded)
      expect(first).to.deep.equal(second)
      expect(more).to.deep.equal([])
    })
  }

  it('deletes a file as the application does, and records that once', async () => {
    await using both = await runBoth()
    const one = await exchange(both.fast.port, remove('a.bin'))
    const other = await exchange(both.ordinary.port, remove('b.html'))
    expect(one.body).to.equal('OK')
    expect(stable(one)).to.deep.equal(stable(other))
    expect(both.handled()).to.equal(1)
    expect(both.audit.stable()).to.deep.equal([
      event({ event: 'delete', file: 'a.bin' }),
      event({ event: 'delete', file: 'b.html' }),
    ])
    const found = await both.files.stat('a.bin').catch((error: unknown) => String(error))
    expect(found).to.include('File not found')
  })

  it('stores what was sent, whole', async () => {
    await using both = await runBoth()
    await exchange(both.fast.port, put({}, 'as it is', 'one'))
    await exchange(both.fast.port, formRequest(form(filePart('two', 'in a form'))))
    expect(both.handled()).to.equal(0)
    for (const [name, size] of Object.entries({ one: 8, two: 9 })) {
      expect((await both.files.stat(name)).size).to.equal(size)
    }
  })

  it('leaves a body to the application that has not arrived yet', async () => {
    await using both = await runBoth()
    const data = put({}, 'content in two parts', 'late')
    using connection = await openConnection(both.fast.port)
    connection.write(data.subarray(0, -5))
    await until('the application has the request', () => both.handled() === 1)
    connection.write(data.subarray(-5))
    expect((await connection.answer()).body).to.equal('OK')
    expect((await both.files.stat('late')).size).to.equal(20)
  })

  it('has what the store refuses tried once, and answered by the application', async () => {
    await using both = await runBoth()
    both.faults.put = new FileServiceError('insufficient-storage', 'The disk has no room')
    const one = await exchange(both.fast.port, put())
    const other = await exchange(both.ordinary.port, put())
    expect(one.status).to.equal(507)
    expect(stable(one)).to.deep.equal(stable(other))
    expect(both.audit.stable()).to.have.length(2)
    expect(both.audit.stable()[0]).to.deep.equal(both.audit.stable()[1])
  })

  it('does not acknowledge what cannot be recorded', async () => {
    const audit = async () => {
      throw new Error('no room for the trail')
    }
    await using both = await runBoth({ audit })
    const one = await exchange(both.fast.port, put())
    const other = await exchange(both.ordinary.port, put())
    expect(one.status).to.equal(500)
    expect(stable(one)).to.deep.equal(stable(other))
  })

  it('refuses an upload for which there is no slot, and gives each slot back', async () => {
    await using full = await runBoth({ maxRequests: 0 })
    expect((await exchange(full.fast.port, put())).status).to.equal(503)
    await using both = await runBoth({ maxRequests: 1 })
    both.faults.put = new FileServiceError('insufficient-storage', 'The disk has no room')
    expect((await exchange(both.fast.port, put())).status).to.equal(507)
    delete both.faults.put
    using connection = await openConnection(both.fast.port)
    for (const data of [put(), simple(), remove('new.txt'), remove('new.txt'), put()]) {
      connection.write(data)
    }
    const statuses = () => [...connection.received().matchAll(/HTTP\/1.1 (\d+)/gu)]
    await until('all are answered', () => statuses().length === 5)
    expect(statuses().map(([, status]) => status)).to.deep.equal([
      '200',
      '200',
      '200',
      '400',
      '200',
    ])
  })
})
