import { credentials } from '@holdfast/testing'

/** What a connection sends without end. */
export interface EndlessStream {
  readonly title: string
  /** Sent once, first. */
  readonly head: string
  /** Sent over and over. */
  readonly unit: string
  /** Whether the client never reads an answer. Default: it reads them all. */
  readonly isUnread?: true
}

const host = 'Host: holdfast.test\r\n'
const login = Object.entries(credentials)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

const ping = `GET /ping HTTP/1.1\r\n${host}\r\n`
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}${login}\r\n`
const put = (fields: string) => `PUT /upload/stream HTTP/1.1\r\n${host}${login}${fields}\r\n`
const post = (fields: string) => `POST /upload HTTP/1.1\r\n${host}${login}${fields}\r\n`
const inChunks = 'Transfer-Encoding: chunked\r\n'
const form = 'Content-Type: multipart/form-data; boundary=b\r\n'

/** Requests in a row, each of them as it should be. */
const requests: readonly (readonly [title: string, unit: string])[] = [
  ['the smallest requests', ping],
  ['requests for a file', get('/serve/kept')],
  ['requests for a list', get('/list')],
  ['unknown paths', `GET /nowhere HTTP/1.1\r\n${host}\r\n`],
  ['a thousand fields each', `GET /ping HTTP/1.1\r\n${host}${'a:b\r\n'.repeat(998)}\r\n`],
  ['empty uploads', put('Content-Length: 0\r\n')],
  ['uploads in chunks of a byte', `${put(inChunks)}${'1\r\nx\r\n'.repeat(50)}0\r\n\r\n`],
  [
    'uploads of strangers',
    `PUT /upload/a HTTP/1.1\r\n${host}Content-Length: 99\r\n\r\n${'x'.repeat(99)}`,
  ],
]

/** One request that never ends, or that is refused. */
const others: readonly (readonly [title: string, head: string, unit: string])[] = [
  ['empty lines', '', '\r\n\r\n'],
  ['a head without end', `GET /ping HTTP/1.1\r\n${host}`, 'a: b\r\n'],
  ['a target without end', 'GET /', 'x'],
  ['chunks that look like heads', put(inChunks), '4\r\n\r\n\r\n\r\n'],
  ['chunks of a byte', put(inChunks), '1\r\nx\r\n'],
  ['an extension of a chunk', put(inChunks) + '1', ';a=b'],
  ['trailers', `${put(inChunks)}0\r\n`, 'a: b\r\n'],
  [
    'a body that is refused',
    `PUT /upload/a HTTP/1.1\r\n${host}Content-Length: 9999999999\r\n\r\n`,
    'x\r\n\r\n',
  ],
  ['what comes behind a refused request', 'GET /ping HTTP/1.1\r\n\r\n', ping],
  ['what comes behind no HTTP', 'nonsense\r\n\r\n', ping],
  ['what comes behind CONNECT', `CONNECT a:1 HTTP/1.1\r\n${host}\r\n`, ping],
  [
    'what comes behind the last request',
    `GET /ping HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    ping,
  ],
  ['boundaries', post(form + inChunks), 'a\r\n--b\r\n--b\r\n\r\n'],
  ['headers of a part', `${post(form + inChunks)}5\r\n--b\r\n\r\n`, '6\r\na: b\r\n\r\n'],
]

/** Everything that a client may send without end on one connection. */
export const endlessStreams: readonly EndlessStream[] = [
  ...requests.map(([title, unit]) => ({ title, head: '', unit })),
  ...requests.map(([title, unit]) => ({
    title: `${title}, their answers unread`,
    head: '',
    unit,
    isUnread: true as const,
  })),
  ...others.map(([title, head, unit]) => ({ title, head, unit })),
]
