import { METHODS } from 'node:http'
import { customerRequest, request } from '../support/request.ts'
import { auth } from '../support/running-app.ts'
import { badRequests, type Table } from './bad-request.ts'

const host = 'Host: service.test\r\n'
const plain = (line: string) => `${line}\r\n${host}\r\n`

const lines: Table = [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a greeting in TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a greeting in SSH', 'SSH-2.0-OpenSSH_9.6\r\n', 400],
  ['a method alone', plain('GET'), 400],
  ['no target', plain('GET HTTP/1.1'), 400],
  ['a tab between the fields', plain('GET\t/ping\tHTTP/1.1'), 400],
  ['a space in the target', plain('GET /serve/a b HTTP/1.1'), 400],
  ['a space before the method', ` ${plain('GET /ping HTTP/1.1')}`, 400],
  ['something behind the version', plain('GET /ping HTTP/1.1 please'), 400],
  ['a relative target', plain('GET ping HTTP/1.1'), 400],
  ['an empty absolute target', plain('GET http:// HTTP/1.1'), 400],
  ['an absolute target with a broken address', plain('GET http://[::1/ping HTTP/1.1'), 400],
  ['an absolute target with a broken host', plain('GET http://a%zz/ping HTTP/1.1'), 400],
  ['an absolute target with a broken port', plain('GET http://a:x/ping HTTP/1.1'), 400],
  ['an absolute target without a host', plain('GET http:///ping HTTP/1.1'), 400],
  ['an absolute target with user information', plain('GET http://a:b@c/ping HTTP/1.1'), 400],
  ['an absolute target with broken user information', plain('GET http://%@a/ping HTTP/1.1'), 400],
  ['an absolute target of another scheme', plain('GET foo://bar HTTP/1.1'), 400],
  ['an absolute target with a path of another scheme', plain('GET foo://bar/ping HTTP/1.1'), 400],
  ['an asterisk', plain('GET * HTTP/1.1'), 404],
  ['a fragment', plain('GET /ping#top HTTP/1.1'), 400],
  ['an empty fragment', plain('GET /ping# HTTP/1.1'), 400],
  ['a fragment behind a query', plain('GET /ping?a#b HTTP/1.1'), 400],
  ['a fragment in an absolute target', plain('GET http://a/ping#b HTTP/1.1'), 400],
  ['a NUL in the target', plain('GET /pi\0ng HTTP/1.1'), 400],
  ['an escape sequence in the target', plain('GET /\u001b[31m HTTP/1.1'), 400],
  ['a DEL in the target', plain('GET /serve/\u007f HTTP/1.1'), 400],
  ['a target of 20 kB', plain(`GET /${'x'.repeat(20_000)} HTTP/1.1`), 431],
  ['HTTP/0.9', 'GET /ping\r\n\r\n', 505],
  ['HTTP/0.9 by its number', plain('GET /ping HTTP/0.9'), 505],
  ['HTTP/1.2', plain('GET /ping HTTP/1.2'), 505],
  ['HTTP/2.0', plain('GET /ping HTTP/2.0'), 505],
  ['HTTP/2.0 without a host', 'GET /ping HTTP/2.0\r\n\r\n', 505],
  ['HTTP/3.0', plain('GET /ping HTTP/3.0'), 505],
  ['HTTP/11', plain('GET /ping HTTP/11'), 400],
  ['HTTP/1', plain('GET /ping HTTP/1'), 400],
  ['HTTP/-1.1', plain('GET /ping HTTP/-1.1'), 400],
  ['a version in lower case', plain('GET /ping http/1.1'), 400],
  ['another protocol', plain('GET /ping ICE/1.0'), 400],
  ['a method in lower case', plain('get /ping HTTP/1.1'), 400],
  ['an unknown method', plain('BREW /ping HTTP/1.1'), 400],
  ['an endless method', plain(`${'A'.repeat(50_000)} /ping HTTP/1.1`), 400],
  ['a method with 8-bit characters', plain('G\u00cbT /ping HTTP/1.1'), 400],
  ['CONNECT to an authority', plain('CONNECT service.test:443 HTTP/1.1'), 405],
  ['an empty line and then garbage', '\r\n\r\ngarbage\r\n\r\n', 400],
]

/** Every method that Node knows, where none of them is at home. */
const methods: Table = METHODS.filter(
  (method) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS'].includes(method),
).flatMap((method) => [
  [`${method} of /ping`, request(method, '/ping'), 405],
  [`${method} of an unknown path`, request(method, '/nowhere'), 404],
])

const otherMethods: Table = [
  ['GET of /upload', customerRequest('GET', '/upload'), 405],
  ['DELETE of /serve/a', customerRequest('DELETE', '/serve/a'), 405],
  ['POST of /serve/a', customerRequest('POST', '/serve/a', auth, 'body'), 405],
  ['GET of /delete/a', customerRequest('GET', '/delete/a'), 405],
  ['DELETE of /list', customerRequest('DELETE', '/list'), 405],
  ['PUT of /upload', customerRequest('PUT', '/upload', {}, 'body'), 405],
  ['POST of /upload/a', customerRequest('POST', '/upload/a', {}, 'body'), 405],
]

export const badRequestLines = [
  ...badRequests('request line', lines),
  ...badRequests('method', [...methods, ...otherMethods]),
]
