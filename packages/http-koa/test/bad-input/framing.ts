import { formType } from '../support/request.ts'
import { auth } from '../support/running-app.ts'
import { badRequests, type Table } from './bad-request.ts'

const customer = Object.entries(auth)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** PUT by the customer, with these lines of framing and these bytes behind the head. */
const put = (lines: string, body: string) =>
  `PUT /upload/refused.txt HTTP/1.1\r\nHost: a\r\n${customer}${lines}\r\n\r\n${body}`

const post = (lines: string, body: string) =>
  `POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: ${formType}\r\n${customer}${lines}\r\n\r\n${body}`

const length = (value: string) => put(`Content-Length: ${value}`, 'body')
const chunked = (body: string) => put('Transfer-Encoding: chunked', body)

const lengths: Table = [
  ['negative', length('-1'), 400],
  ['with a plus', length('+4'), 400],
  ['hexadecimal', length('0x4'), 400],
  ['a fraction', length('4.0'), 400],
  ['an exponent', length('4e0'), 400],
  ['a word', length('four'), 400],
  ['empty', length(''), 400],
  ['a list of the same', length('4, 4'), 400],
  ['a list of others', length('4, 5'), 400],
  ['with a space inside', length('4 4'), 400],
  ['beyond 64 bits', length('99999999999999999999999999'), 400],
  ['twice the same', put('Content-Length: 4\r\nContent-Length: 4', 'body'), 400],
  ['twice, not the same', put('Content-Length: 4\r\nContent-Length: 5', 'body'), 400],
  ['with chunks', put('Content-Length: 4\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), 400],
  ['behind chunks', put('Transfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n'), 400],
]

const codings: Table = [
  ['unknown', put('Transfer-Encoding: rot13', 'body'), 501],
  ['identity', put('Transfer-Encoding: identity', 'body'), 501],
  ['chunked, then gzip', put('Transfer-Encoding: chunked, gzip', '0\r\n\r\n'), 501],
  ['chunked twice', put('Transfer-Encoding: chunked, chunked', '0\r\n\r\n'), 501],
  ['a misspelt one', put('Transfer-Encoding: xchunked', '0\r\n\r\n'), 501],
  ['gzip, then chunked', put('Transfer-Encoding: gzip, chunked', '0\r\n\r\n'), 501],
  [
    'gzip and chunked in two lines',
    put('Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    501,
  ],
  ['chunked with a parameter', put('Transfer-Encoding: chunked;q=1', '0\r\n\r\n'), 501],
  ['in quotes', put('Transfer-Encoding: "chunked"', '0\r\n\r\n'), 501],
]

const chunks: Table = [
  ['a size that is no number', chunked('zz\r\nbody\r\n0\r\n\r\n'), 400],
  ['an empty size', chunked('\r\nbody\r\n0\r\n\r\n'), 400],
  ['a negative size', chunked('-4\r\nbody\r\n0\r\n\r\n'), 400],
  ['a size with 0x', chunked('0x4\r\nbody\r\n0\r\n\r\n'), 400],
  ['a size beyond 64 bits', chunked('fffffffffffffffff\r\nbody\r\n0\r\n\r\n'), 400],
  ['a space before the size', chunked(' 4\r\nbody\r\n0\r\n\r\n'), 400],
  ['a space behind the size', chunked('4 \r\nbody\r\n0\r\n\r\n'), 400],
  ['a chunk that is longer than its size', chunked('2\r\nbody\r\n0\r\n\r\n'), 400],
  ['a chunk that is shorter than its size', chunked('9\r\nbody\r\n0\r\n\r\nxx'), 400],
  ['a bare LF behind the size', chunked('4\nbody\r\n0\r\n\r\n'), 400],
  ['a bare LF behind the chunk', chunked('4\r\nbody\n0\r\n\r\n'), 400],
  ['a control character in an extension', chunked('4;a=\0\r\nbody\r\n0\r\n\r\n'), 400],
  ['an extension of 20 kB', chunked(`4;${'a'.repeat(20_000)}\r\nbody\r\n0\r\n\r\n`), 413],
  ['a trailer without a colon', chunked('4\r\nbody\r\n0\r\nnonsense\r\n\r\n'), 400],
  ['a trailer of 20 kB', chunked(`4\r\nbody\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`), 431],
  ['a body without chunks', chunked('just some bytes\r\n'), 400],
  ['a form without chunks', post('Transfer-Encoding: chunked', '--boundary-of-a-test\r\n'), 400],
]

const cutOff: Table = [
  ['in the method', 'GE', 400],
  ['in the target', 'GET /pi', 400],
  ['behind the request line', 'GET /ping HTTP/1.1\r\n', 400],
  ['in a header', 'GET /ping HTTP/1.1\r\nHos', 400],
  ['before the empty line', 'GET /ping HTTP/1.1\r\nHost: a\r\n', 400],
  ['before a body', put('Content-Length: 10', ''), 400],
  ['in a body', put('Content-Length: 10', 'body'), 400],
  ['before the first chunk', chunked(''), 400],
  ['in the size of a chunk', chunked('4'), 400],
  ['in a chunk', chunked('9\r\nbody'), 400],
  ['behind a chunk', chunked('4\r\nbody\r\n'), 400],
  ['in the last chunk', chunked('4\r\nbody\r\n0\r\n'), 400],
  ['in a trailer', chunked('4\r\nbody\r\n0\r\nX: y'), 400],
  ['before a form', post('Content-Length: 100', ''), 400],
  ['in a form', post('Content-Length: 100', '--boundary-of-a-test\r\nContent-Dis'), 400],
]

/** The same, by a client that just falls silent. */
const silent: Table = cutOff.map(([title, bytes]) => [title, bytes, 408])

export const badFraming = [
  ...badRequests('length', lengths),
  ...badRequests('coding', codings),
  ...badRequests('chunk', chunks),
  ...badRequests('cut off', cutOff, true),
  ...badRequests('silent', silent),
]
