import { expect } from 'chai'
import { parseAnswer, type ParseOptions } from '../../src/connection.ts'

const toGet = { toHead: false, isClosed: false }

function parse(text: string, options: ParseOptions = toGet) {
  const parsed = parseAnswer(Buffer.from(text, 'latin1'), options)
  return parsed && { ...parsed.answer, rest: parsed.rest.toString('latin1') }
}

describe('parseAnswer', () => {
  it('waits for the end of the head', () => {
    expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n')).to.equal(undefined)
  })

  it('refuses what begins with no status line', () => {
    expect(() => parse('HTTP/2 200\r\n\r\n')).to.throw('No status line: HTTP/2 200')
  })

  it('takes as many bytes as the length says, and leaves the rest', () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Odd: a:b \r\n\r\n'
    expect(parse(`${head}ab`)).to.equal(undefined)
    const answer = parse(`${head}abcHTTP/1.1`)
    expect(answer).to.include({ status: 200, body: 'abc', rest: 'HTTP/1.1' })
    expect(answer?.headers.get('x-odd')).to.equal('a:b')
  })

  it('keeps bytes as they are', () => {
    const answer = parse('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\x00')
    expect(answer?.bytes).to.deep.equal(Buffer.from([0xff, 0]))
    expect(answer?.body).to.equal('\xff\x00')
  })

  it('joins chunks, and waits for the last one', () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const chunks = ['3\r\nabc\r\n', 'A\r\n0123456789\r\n', '0\r\n\r\n']
    for (let size = 0; size < chunks.join('').length; size++) {
      expect(parse(head + chunks.join('').slice(0, size))).to.equal(undefined)
    }
    expect(parse(`${head}${chunks.join('')}next`)).to.include({
      body: 'abc0123456789',
      rest: 'next',
    })
  })

  it('takes what has neither length nor chunks at the end of the connection', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\nabc'
    expect(parse(text)).to.equal(undefined)
    expect(parse(text, { ...toGet, isClosed: true })).to.include({ body: 'abc', rest: '' })
  })

  it('takes no body of an answer that has none', () => {
    for (const status of ['100 Continue', '204 No Content', '304 Not Modified']) {
      const answer = parse(`HTTP/1.1 ${status}\r\nContent-Length: 3\r\n\r\nHTTP`)
      expect(answer, status).to.include({ body: '', rest: 'HTTP' })
    }
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n'
    expect(parse(head, { ...toGet, toHead: true })).to.include({ body: '', rest: '' })
  })
})
