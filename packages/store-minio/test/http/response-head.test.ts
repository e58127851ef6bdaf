import { expect } from 'chai'
import { contentLengthOf, parseResponseHead } from '../../src/http/get-exchange.ts'

describe('parseResponseHead', () => {
  it('reads the status and the fields, by lower-case names', () => {
    const { status, headers } = parseResponseHead(
      'HTTP/1.1 206 Partial Content\r\nETag: "a b"\r\nX-Empty:\r\nContent-Range:\tbytes 0-1/2 \r\nVary: a\r\nvary: b',
    )
    expect(status).to.equal(206)
    expect(Object.fromEntries(headers)).to.deep.equal({
      etag: '"a b"',
      'x-empty': '',
      'content-range': 'bytes 0-1/2',
      vary: 'a, b',
    })
  })

  it('needs no reason', () => {
    expect(parseResponseHead('HTTP/1.1 200').status).to.equal(200)
    expect(parseResponseHead('HTTP/1.1 200 ').status).to.equal(200)
  })

  for (const text of [
    ...['', 'HTTP/1.0 200 OK', 'HTTP/2 200', 'HTTP/1.1 20', 'HTTP/1.1 2000 OK', 'SSH-2.0-OpenSSH'],
    ...[
      'HTTP/1.1 200 OK\r\nno colon',
      'HTTP/1.1 200 OK\r\na b: c',
      'HTTP/1.1 200 OK\r\n folded: x',
    ],
    ...['HTTP/1.1 200 OK\r\n: x', 'HTTP/1.1 200 OK\r\na : x', ' HTTP/1.1 200 OK'],
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => parseResponseHead(text)).to.throw('does not answer in HTTP/1.1')
    })
  }
})

describe('contentLengthOf', () => {
  const lengthWith = (...fields: string[]) =>
    contentLengthOf(parseResponseHead(['HTTP/1.1 200 OK', ...fields].join('\r\n')))

  it('is that of the Content-Length', () => {
    expect(lengthWith('Content-Length: 0')).to.equal(0)
    expect(lengthWith('Content-Length: 5497558138880')).to.equal(5_497_558_138_880)
  })

  it('is 0 for a 304, which has no body, whatever its Content-Length', () => {
    for (const field of ['Content-Length: 7', 'ETag: "x"']) {
      const head = parseResponseHead(`HTTP/1.1 304 Not Modified\r\n${field}`)
      expect(contentLengthOf(head)).to.equal(0)
    }
  })

  for (const fields of [
    [],
    ['Content-Length: '],
    ['Content-Length: -1'],
    ['Content-Length: 1e3'],
    ['Content-Length: 1', 'Content-Length: 2'],
    ['Content-Length: 1', 'Transfer-Encoding: chunked'],
    ['Content-Length: 99999999999999999999'],
  ]) {
    it(`is not known from ${JSON.stringify(fields)}`, () => {
      expect(lengthWith(...fields)).to.equal(undefined)
    })
  }
})
