import fc from 'fast-check'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { password } from '../fuzz-service.ts'
import { mutated } from '../mutations.ts'
import { openRawSubject } from '../raw-subject.ts'
import { credentials, requestOf, type HeaderLine } from '../requests.ts'

const names = [
  ...['Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since', 'If-Range'],
  ...['Content-Digest', 'Content-Type', 'Content-Length', 'Transfer-Encoding', 'Content-Range'],
  ...[
    'Expect',
    'Connection',
    'Upgrade',
    'Host',
    'X-Request-Id',
    'X-Forwarded-For',
    'Trailer',
    'TE',
  ],
  ...[
    'Content-Encoding',
    'Accept',
    'Cookie',
    'Authorization',
    'Keep-Alive',
    'X-HTTP-Method-Override',
  ],
] as const

const values = [
  ...[
    '',
    '*',
    '"tag"',
    'W/"tag"',
    '"a", "b"',
    'bytes=0-4',
    'bytes=-3',
    'bytes=2-1',
    'bytes=0-1,3-4',
  ],
  ...['Sat, 21 Nov 2026 02:45:56 GMT', 'Saturday, 21-Nov-26 02:45:56 GMT', '0', '4', '99999', '-1'],
  ...[
    'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    'sha-512=:AAAA:',
    'md5=:x:',
    '100-continue',
  ],
  ...[
    'chunked',
    'gzip, chunked',
    'chunked, chunked',
    'identity',
    'close',
    'keep-alive, upgrade',
    'h2c',
  ],
  ...[
    'multipart/form-data; boundary=b',
    'text/plain',
    'bytes 0-1/9',
    '127.0.0.1, ::1',
    'id-1.2:3',
    'DELETE',
  ],
] as const

const value = mutated(
  fc.constantFrom(...values).map((text) => Buffer.from(text, 'latin1')),
  3,
).map((bytes) => bytes.toString('latin1'))
const line: fc.Arbitrary<HeaderLine> = fc.tuple(
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...names) },
    fc.string({ unit: 'binary-ascii', maxLength: 12 }),
  ),
  value,
)

interface Login {
  readonly lines: readonly HeaderLine[]
  readonly isStranger?: boolean
}

const [name, pass] = credentials as [HeaderLine, HeaderLine]
const noise = fc.uint8Array({ maxLength: 20 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, '?'),
)
const stranger = (lines: readonly HeaderLine[]): Login => ({ lines, isStranger: true })

/** Those who are let in, and all ways not to be. */
const logins: fc.Arbitrary<Login> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ lines: [name, pass] }) },
  fc.constant(stranger([])),
  fc.constant(stranger([name])),
  fc.constant(stranger([pass])),
  fc.constant(stranger([name, pass, pass])),
  fc.constant(stranger([name, name, pass])),
  fc.constant(stranger([name, ['X-Auth-Password', ''], pass])),
  fc.constant(stranger([['x-auth-name', 'other'], pass])),
  fc.constant(stranger([['x_auth_name', 'demo'], pass])),
  noise.map((text) => stranger([name, ['x-auth-password', text]])),
  noise.map((text) => stranger([['x-auth-name', `${text}x`], pass])),
  noise.map((text) => stranger([name, ['x-auth-password', `${password}!${text}`]])),
  noise.map((text) =>
    stranger([name, ['x-auth-password', password.slice(0, -1)], ['Cookie', text]]),
  ),
)

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const
const targets = [
  ...[
    '/ping',
    '/list',
    '/list?limit=1&after=a',
    '/serve/a.txt',
    '/serve/b',
    '/serve/none',
    '/upload',
  ],
  ...[
    '/upload/a.txt',
    '/upload/new',
    '/upload/batch',
    '/delete/a.txt',
    '/delete/none',
    '/delete/batch',
    '/serve/batch',
    '/none',
    '*',
  ],
] as const

const inputs = fc
  .record({
    login: logins,
    method: fc.constantFrom(...methods),
    target: fc.constantFrom(...targets),
    lines: fc.array(line, { maxLength: 4 }),
    hasHost: fc.nat(20).map((number) => number > 0),
    body: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    hasLength: fc.boolean(),
  })
  .map(({ login, method, target, lines, hasHost, body, hasLength }) => {
    const host: readonly HeaderLine[] = hasHost ? [['Host', 'a']] : []
    const length: readonly HeaderLine[] = hasLength ? [['Content-Length', `${body.length}`]] : []
    const head = [...host, ...login.lines, ...length, ...lines]
    return { ...login, bytes: requestOf(method, target, head, body) }
  })
  // A line break may make two of a value, and what is left of it a request without what was to be wrong with it.
  .filter(({ bytes, isStranger }) => isStranger !== true || isIntact(bytes))
  .map(({ bytes, isStranger }) => ({ bytes, ...(isStranger && { isStranger }) }))

/** Whether the head is what it was made of. */
function isIntact(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  return !/[^\r]\n|\r[^\n]/.test(text.slice(0, text.indexOf('\r\n\r\n')))
}

/** Headers of all kinds with all kinds of bytes in them, and logins that are none. */
export function headers(): FuzzTarget {
  return createTarget({ name: 'headers', share: 12, inputs, open: openRawSubject })
}
