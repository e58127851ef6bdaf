import { credentials } from '@holdfast/testing'

/** A request within which another one is hidden. */
export interface Vector {
  readonly title: string
  /** All that is sent on the connection, a byte a character. */
  readonly bytes: string
  /** What may be answered, in order, such as `400`, or `200 400`. Empty where no answer is one, too. */
  readonly statuses: RegExp
}

const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

const customer = lines(credentials)
const refused = /^400$/

/** A whole request to delete a file as the customer whose file it is. */
export function deletion(name: string, owner: Readonly<Record<string, string>>): string {
  return `DELETE /delete/${name} HTTP/1.1\r\nHost: a\r\n${lines(owner)}\r\n`
}

type Row = readonly [title: string, bytes: string, statuses: RegExp]

const put = (framing: string, body: string) =>
  `PUT /upload/carrier HTTP/1.1\r\nHost: a\r\n${customer}${framing}\r\n\r\n${body}`
const chunks = (body: string) => put('Transfer-Encoding: chunked', body)

/** All the ways in which `hidden` is carried to the server in what is, or may be taken for, another request's body. */
export function vectors(hidden: string): readonly Vector[] {
  const rows = [
    ...lengths(hidden),
    ...codings(hidden),
    ...chunking(hidden),
    ...heads(hidden),
    ...otherProtocols(hidden),
    ...bodiesOfRefused(hidden),
  ]
  return rows.map(([title, bytes, statuses]) => ({ title, bytes, statuses }))
}

function lengths(hidden: string): readonly Row[] {
  const size = hidden.length
  const row = (title: string, framing: string, statuses = refused): Row => [
    `Content-Length: ${title}`,
    put(framing, hidden),
    statuses,
  ]
  const value = (title: string, text: string, statuses = refused) =>
    row(title, `Content-Length: ${text}`, statuses)
  return [
    value('right', `${size}`, /^200$/),
    value('with zeros in front', `000${size}`, /^(200|400)$/),
    value('with blanks around', `\t ${size} \t`, /^(200|400)$/),
    value('with a plus', `+${size}`),
    value('negative', `-${size}`),
    value('hexadecimal', `0x${size.toString(16)}`),
    value('a list of the same', `${size}, ${size}`),
    value('a list with zero', `0, ${size}`),
    value('with a space inside', `0 ${size}`),
    value('in quotes', `"${size}"`),
    value('with a fraction', `${size}.0`),
    value('with a vertical tab', `\v${size}`),
    value('with a NUL', `${size}\0`),
    value('beyond 64 bits', `1844674407370955161${6 + size}`),
    row('twice the same', `Content-Length: ${size}\r\nContent-Length: ${size}`),
    row('twice, zero first', `Content-Length: 0\r\nContent-Length: ${size}`),
    row('twice, zero last', `Content-Length: ${size}\r\nContent-Length: 0`),
    row('with a space before the colon', `Content-Length : ${size}`),
    row('folded', `Content-Length:\r\n ${size}`),
    row('folded behind a zero', `Content-Length: 0\r\n ${size}`),
    row('behind a folded line', `X: a\r\n Content-Length: ${size}`),
    row('behind a bare CR', `X: a\rContent-Length: ${size}`),
    row('behind a bare LF', `X: a\nContent-Length: ${size}`),
    row('with a control character in its name', `Content-Length\u0001: ${size}`),
  ]
}

function codings(hidden: string): readonly Row[] {
  const body = `0\r\n\r\n${hidden}`
  const both = (title: string, coding: string, statuses = refused): Row => [
    `Transfer-Encoding: ${title}, with a length`,
    put(`Content-Length: ${body.length}\r\n${coding}`, body),
    statuses,
  ]
  const alone = (title: string, coding: string): Row => [
    `Transfer-Encoding: ${title}`,
    put(coding, body),
    /^(400|501)$/,
  ]
  const odd: readonly (readonly [string, string])[] = [
    ['xchunked', 'Transfer-Encoding: xchunked'],
    ['identity', 'Transfer-Encoding: identity'],
    ['chunked, identity', 'Transfer-Encoding: chunked, identity'],
    ['chunked, gzip', 'Transfer-Encoding: chunked, gzip'],
    ['chunked twice in a line', 'Transfer-Encoding: chunked, chunked'],
    ['chunked and identity', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'],
    ['with a vertical tab', 'Transfer-Encoding: \vchunked'],
    ['with a vertical tab behind', 'Transfer-Encoding: chunked\v'],
    ['with a NUL', 'Transfer-Encoding: chunked\0'],
    ['in quotes', 'Transfer-Encoding: "chunked"'],
    ['with a weight', 'Transfer-Encoding: chunked;q=0.5'],
    ['with a space before the colon', 'Transfer-Encoding : chunked'],
    ['folded', 'Transfer-Encoding:\r\n chunked'],
    ['behind a bare CR', 'X: a\rTransfer-Encoding: chunked'],
    ['behind a bare LF', 'X: a\nTransfer-Encoding: chunked'],
  ]
  return [
    ...odd.flatMap(([title, coding]) => [both(title, coding), alone(title, coding)]),
    both('chunked', 'Transfer-Encoding: chunked'),
    both('chunked, in odd cases', 'tRANSFER-eNCODING: cHUNKED'),
    both('chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    both('under another name', 'Transfer_Encoding: chunked', /^200$/),
    [
      'Transfer-Encoding: chunked, before a length',
      put(`Transfer-Encoding: chunked\r\nContent-Length: ${body.length}`, body),
      refused,
    ],
    [
      'Transfer-Encoding: chunked, in HTTP/1.0, with a length',
      put(`Transfer-Encoding: chunked\r\nContent-Length: ${body.length}`, body).replace(
        'HTTP/1.1',
        'HTTP/1.0',
      ),
      refused,
    ],
  ]
}

function chunking(hidden: string): readonly Row[] {
  const hex = hidden.length.toString(16)
  const rest = `${hidden}\r\n0\r\n\r\n`
  const row = (title: string, body: string, statuses = refused): Row => [
    `chunks: ${title}`,
    chunks(body),
    statuses,
  ]
  return [
    row('right', `${hex}\r\n${rest}`, /^200$/),
    row('a negative size', `-${hex}\r\n${rest}`),
    row('a size with 0x', `0x${hex}\r\n${rest}`),
    row('a size of 0x0', `0x0\r\n\r\n${hidden}`),
    row('a size beyond 64 bits', `10000000000000000\r\n\r\n${hidden}`),
    row('a size that wraps around', `1000000000000000${hex}\r\n${rest}`),
    row('blanks before the size', ` ${hex}\r\n${rest}`),
    row('blanks behind the size', `${hex} \r\n${rest}`),
    row('an extension of 1 MiB', `${hex};a=${'a'.repeat(2 ** 20)}\r\n${rest}`, /^413$/),
    row('an extension with a bare LF', `0;a\n${hex}\r\n${rest}`),
    row('an extension with a bare CR', `0;a\r${hex}\r\n${rest}`),
    row('a missing line end behind the data', `1\r\nx0\r\n\r\n${hidden}`),
    row('a bare LF behind the size', `${hex}\n${rest}`),
    row('a bare CR behind the size', `${hex}\r${rest}`),
    row('a bare LF behind the data', `1\r\nx\n0\r\n\r\n${hidden}`),
    row('a bare CR behind the last chunk', `0\r\r\n${hidden}`),
    row('bare LFs behind the last chunk', `0\n\n${hidden}`),
    row('the hidden request in a trailer', `0\r\n${hidden}`),
    row('a body without chunks', hidden),
    row('a trailer with another login', `1\r\nx\r\n0\r\nx-auth-name: victim\r\n\r\n`, /^200$/),
    row('a trailer with a length', `0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`),
  ]
}

function heads(hidden: string): readonly Row[] {
  const length = `Content-Length: ${hidden.length}\r\n`
  const withBody = (title: string, start: string, headers: string, statuses: RegExp): Row => [
    `head: ${title}`,
    `${start} HTTP/1.1\r\n${headers}${length}\r\n${hidden}`,
    statuses,
  ]
  const host = 'Host: a\r\n'
  return [
    withBody('GET with a body', 'GET /ping', host, /^200$/),
    withBody('HEAD with a body', 'HEAD /ping', host, /^200$/),
    withBody('DELETE with a body', 'DELETE /delete/none', host + customer, refused),
    withBody('OPTIONS with a body', 'OPTIONS /ping', host, /^204$/),
    withBody('TRACE with a body', 'TRACE /ping', host, /^405$/),
    withBody(
      'an upgrade with a body',
      'GET /ping',
      `${host}Connection: upgrade\r\nUpgrade: h2c\r\n`,
      /^200$/,
    ),
    withBody('no host, with a body', 'GET /ping', '', refused),
    withBody('two hosts, with a body', 'GET /ping', host + host, refused),
    withBody('a target of another host, with a body', 'GET http://b/ping', host, /^200$/),
    withBody('a target without a path, with a body', 'GET a:80', host, refused),
    withBody(
      'a login with a bare CR',
      'GET /list',
      `${host}x-auth-name: demo\rx-auth-name: victim\r\n`,
      refused,
    ),
    withBody('a folded login', 'GET /list', `${host}x-auth-name: de\r\n mo\r\n`, refused),
    // What is behind is a request of its own there, but the connection was said to be closed.
    ['head: no host, and a request behind', `GET /ping HTTP/1.1\r\n\r\n${hidden}`, refused],
    [
      'head: two hosts, and a request behind',
      `GET /ping HTTP/1.1\r\n${host}${host}\r\n${hidden}`,
      refused,
    ],
    [
      'head: too many fields, and a request behind',
      `GET /ping HTTP/1.1\r\n${host}${'a:b\r\n'.repeat(1500)}\r\n${hidden}`,
      /^431$/,
    ],
    [
      'head: 10 000 fields, and a request behind',
      `GET /ping HTTP/1.1\r\n${host}${'a:b\r\n'.repeat(10_000)}\r\n${hidden}`,
      /^431$/,
    ],
    [
      'head: a target of 64 KiB, and a request behind',
      `GET /${'x'.repeat(65_536)} HTTP/1.1\r\n${host}\r\n${hidden}`,
      /^431$/,
    ],
    [
      'head: an unknown expectation, and a request behind',
      `GET /ping HTTP/1.1\r\n${host}Expect: x\r\n\r\n${hidden}`,
      /^417$/,
    ],
    [
      'head: close, and a request behind',
      `GET /ping HTTP/1.1\r\n${host}Connection: close\r\n\r\n${hidden}`,
      /^200( 400)?$/,
    ],
    [
      'head: CONNECT, and a request behind',
      `CONNECT a:80 HTTP/1.1\r\n${host}\r\n${hidden}`,
      /^405$/,
    ],
    ['head: HTTP/1.0, and a request behind', `GET /ping HTTP/1.0\r\n\r\n${hidden}`, /^200( 400)?$/],
  ]
}

function otherProtocols(hidden: string): readonly Row[] {
  const greeting = Buffer.from('16030100a5010000a10303', 'hex').toString('latin1')
  return [
    ['HTTP/0.9', `GET /ping\r\n${hidden}`, refused],
    ['HTTP/0.9 with an empty line', `GET /ping\r\n\r\n${hidden}`, /^505$/],
    ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`, refused],
    ['a greeting of TLS', `${greeting}${hidden}`, refused],
    ['a line of no protocol', `hello\r\n${hidden}`, refused],
    ['another protocol', `GET /ping ICE/1.0\r\nHost: a\r\n\r\n${hidden}`, refused],
  ]
}

/** Refused before the body is read, or for it. */
function bodiesOfRefused(hidden: string): readonly Row[] {
  const large = `${'x'.repeat(300_000)}${hidden}`
  const upload = (path: string, headers: string, body: string) =>
    `PUT ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
  const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="carrier"\r\n\r\nx\r\n--b--\r\n${hidden}`
  const formType = 'Content-Type: multipart/form-data; boundary=b\r\n'
  return [
    ['refused: a stranger', upload('/upload/a', '', hidden), refused],
    ['refused: a bad name', upload('/upload/..', customer, hidden), refused],
    ['refused: a bad name, with a large body', upload('/upload/..', customer, large), refused],
    ['refused: an unknown path', upload('/nowhere', customer, hidden), /^404$/],
    ['refused: another method', upload('/list', customer, hidden), /^405$/],
    [
      'refused: not waiting for the 100',
      upload('/upload/..', `${customer}Expect: 100-continue\r\n`, hidden),
      refused,
    ],
    [
      'refused: a digest',
      upload('/upload/a', `${customer}Content-Digest: sha-256=:${'A'.repeat(43)}=:\r\n`, hidden),
      refused,
    ],
    [
      'refused: a large body, and a request behind',
      `${upload('/upload/..', customer, large)}${hidden}`,
      refused,
    ],
    [
      'behind the end of a form',
      upload('/upload', customer + formType, form).replace('PUT', 'POST'),
      /^(200|400)$/,
    ],
  ]
}
