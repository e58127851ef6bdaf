import { customerRequest, request } from '../support/request.ts'
import { badRequests, type Table } from './bad-request.ts'

/** GET /list by the customer, with this line among the header fields. */
const withLine = (line: string) => {
  const head = customerRequest('GET', '/list').toString('latin1').slice(0, -2)
  return Buffer.from(`${head}${line}\r\n\r\n`, 'latin1')
}

const syntax: Table = [
  ['a line without a colon', withLine('nonsense'), 400],
  ['a line that begins with the colon', withLine(': value'), 400],
  ['a space before the colon', withLine('X-Test : a'), 400],
  ['a space in the name', withLine('X Test: a'), 400],
  ['a parenthesis in the name', withLine('X(Test): a'), 400],
  ['a slash in the name', withLine('X/Test: a'), 400],
  ['8-bit characters in the name', withLine('X-T\u00e4st: a'), 400],
  ['a NUL in the name', withLine('X-\0Test: a'), 400],
  ['a NUL in the value', withLine('X-Test: a\0b'), 400],
  ['a bell in the value', withLine('X-Test: a\u0007b'), 400],
  ['a DEL in the value', withLine('X-Test: a\u007fb'), 400],
  ['a bare CR in the value', withLine('X-Test: a\rb'), 400],
  ['a bare CR at the end of a line', withLine('X-Test: a\rX-Other: b'), 400],
  ['a line folded with a space', withLine('X-Test: a\r\n b'), 400],
  ['a line folded with a tab', withLine('X-Test: a\r\n\tb'), 400],
  ['a folded first line', `GET /ping HTTP/1.1\r\n X-Test: a\r\nHost: a\r\n\r\n`, 400],
  ['a value of 20 kB', withLine(`X-Test: ${'x'.repeat(20_000)}`), 431],
  ['a name of 20 kB', withLine(`${'x'.repeat(20_000)}: a`), 431],
  ['four thousand fields', withLine('a: b\r\n'.repeat(4_000) + 'c: d'), 431],
]

const hosts: Table = [
  ['none', 'GET /ping HTTP/1.1\r\n\r\n', 400],
  ['none, in front of a body', 'PUT /upload/a HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody', 400],
  ['two', 'GET /ping HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ...[
    'a b/c',
    '[::1',
    '::1',
    '[::1]x',
    '[1.2.3]',
    'a,b',
    '<script>',
    '@',
    'user@service.test',
    'http://a',
    'a/b',
    'a:80:80',
    'a:http',
    'a?b',
    'a#b',
    'a\\b',
    '%zz',
    'caf\u00e9',
    '"a"',
  ].map(
    (host) =>
      [host, Buffer.from(`GET /ping HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1'), 400] as const,
  ),
  ['broken, in HTTP/1.0', 'GET /ping HTTP/1.0\r\nHost: a b\r\n\r\n', 400],
  ['twice the same', 'GET /ping HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400],
]

const name = 'x-auth-name: demo\r\n'
const password = 'x-auth-password: sesame\r\n'
const login = (lines: string) => `GET /list HTTP/1.1\r\nHost: a\r\n${lines}\r\n`

const credentials: Table = [
  ['none', login(''), 400],
  ['no password', login(name), 400],
  ['no name', login(password), 400],
  ['an empty name', login(`x-auth-name:\r\n${password}`), 400],
  ['an empty password', login(`${name}x-auth-password:\r\n`), 400],
  ['nothing but blanks', login('x-auth-name:  \t \r\nx-auth-password: \t\r\n'), 400],
  ['the name twice', login(name + name + password), 400],
  ['the password twice', login(name + password + password), 400],
  ['two passwords, the second right', login(`${name}x-auth-password: x\r\n${password}`), 400],
  ['two names in one line', login(`x-auth-name: demo, demo\r\n${password}`), 400],
  ['the name in upper case', login(`x-auth-name: DEMO\r\n${password}`), 400],
  ['quotes around the name', login(`x-auth-name: "demo"\r\n${password}`), 400],
  ['a name that is not UTF-8', login(`x-auth-name: \u00e9\u00ff\r\n${password}`), 400],
  ['an overlong encoding', login(`x-auth-name: \u00c1\u00a4emo\r\n${password}`), 400],
  ['a name in percent-encoding', login(`x-auth-name: %64emo\r\n${password}`), 400],
  ['a name in the words of RFC 2047', login(`x-auth-name: =?utf-8?q?demo?=\r\n${password}`), 400],
  ['the name __proto__', login(`x-auth-name: __proto__\r\n${password}`), 400],
  ['the name ..', login(`x-auth-name: ..\r\n${password}`), 400],
  ['a name of 10 kB', login(`x-auth-name: ${'x'.repeat(10_000)}\r\n${password}`), 400],
  ['Basic instead', login('Authorization: Basic ZGVtbzpzZXNhbWU=\r\n'), 400],
  ['in the query', request('GET', '/list?x-auth-name=demo&x-auth-password=sesame'), 400],
  ['in the target', request('GET', 'http://demo:sesame@service.test/list'), 400],
].map(([title, text, status]) => [
  String(title),
  typeof text === 'string' ? Buffer.from(text, 'latin1') : Buffer.from(text as Uint8Array),
  Number(status),
])

const put = (headers: Record<string, string | number>) =>
  customerRequest('PUT', '/upload/refused.txt', headers, 'body')

const fields: Table = [
  ['Expect: 200-ok', put({ Expect: '200-ok' }), 417],
  ['Expect: 100-continue, 200-ok', put({ Expect: '200-ok, x=y' }), 417],
  ['If-None-Match with a tag', put({ 'If-None-Match': '"tag"' }), 400],
  ['If-None-Match with nothing', put({ 'If-None-Match': '' }), 400],
  ['If-Match', put({ 'If-Match': '"tag"' }), 400],
  ['If-Unmodified-Since', put({ 'If-Unmodified-Since': 'yesterday' }), 400],
  ['Content-Range', put({ 'Content-Range': 'bytes 0-3/10' }), 400],
  ['Upload-Complete of a part', put({ 'Upload-Complete': '?0' }), 400],
  ['Upload-Complete of garbage', put({ 'Upload-Complete': 'no' }), 400],
  ['Upload-Incomplete of a part', put({ 'Upload-Incomplete': '?1' }), 400],
  ['Upload-Incomplete of garbage', put({ 'Upload-Incomplete': 'yes' }), 400],
  ['a digest that is no base64', put({ 'Content-Digest': 'sha-256=:!!!:' }), 400],
  ['a digest without colons', put({ 'Content-Digest': 'sha-256=abc' }), 400],
  ['a digest that is too short', put({ 'Content-Digest': 'sha-256=:YWJj:' }), 400],
  ['an empty digest', put({ 'Content-Digest': 'sha-256=' }), 400],
  ['a wrong digest', put({ 'Content-Digest': `sha-256=:${'A'.repeat(43)}=:` }), 400],
  ['a wrong digest in SHA-512', put({ 'Content-Digest': `sha-512=:${'A'.repeat(86)}==:` }), 400],
]

export const badHeaderFields = [
  ...badRequests('header', syntax),
  ...badRequests('host', hosts),
  ...badRequests('credentials', credentials),
  ...badRequests('field', fields),
]
