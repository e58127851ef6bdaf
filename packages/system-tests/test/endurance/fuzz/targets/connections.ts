import fc from 'fast-check'
import { openConnectionSubject, type ConnectionFigures } from '../connection-subject.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { mutated } from '../mutations.ts'
import { chunked, demoRequest, requestOf, type HeaderLine } from '../requests.ts'
import type { Sending } from '../send-bytes.ts'

const host: HeaderLine = ['Host', 'a']
const inChunks: HeaderLine = ['Transfer-Encoding', 'chunked']
const formType: HeaderLine = ['Content-Type', 'multipart/form-data; boundary=b']
const announced: HeaderLine = ['Content-Length', '99999999']
const lines = (text: string) => Buffer.from(text, 'latin1')

const form = lines(
  '--b\r\nContent-Disposition: form-data; name="file"; filename="new"\r\n\r\ncontent\r\n--b--\r\n',
)

const requests: readonly Buffer[] = [
  requestOf('GET', '/ping', [host]),
  requestOf('OPTIONS', '/list', [host]),
  requestOf('GET', '/list', [host]),
  demoRequest('GET', '/list'),
  demoRequest('GET', '/list?details=1&limit=1'),
  demoRequest('GET', '/serve/new'),
  demoRequest('HEAD', '/serve/new'),
  demoRequest('GET', '/serve/large', [['Range', 'bytes=1-']]),
  demoRequest('DELETE', '/delete/new'),
  demoRequest('PUT', '/upload/new', [], lines('content')),
  demoRequest('PUT', '/upload/large', [], Buffer.alloc(200_000, 'x')),
  demoRequest('PUT', '/upload/new', [['Expect', '100-continue']], lines('content')),
  demoRequest('POST', '/upload', [formType], form),
  demoRequest('POST', '/upload/batch', [formType], form),
  Buffer.concat([demoRequest('POST', '/upload', [formType, inChunks]), chunked(form, [9, 60])]),
  requestOf('CONNECT', 'a:1', [host]),
]

/** What begins and is not ended. */
const beginnings: readonly Buffer[] = [
  lines('GET /ping HTTP/1.1\r\nHost: a\r\n'),
  lines('GET /'),
  demoRequest('PUT', '/upload/unfinished', [announced]).subarray(0, -1),
  requestOf('PUT', '/upload/unfinished', [host, announced]),
  Buffer.concat([demoRequest('POST', '/upload', [formType, inChunks]), lines('5\r\n--b\r\n\r\n')]),
  Buffer.concat([demoRequest('POST', '/upload/batch', [formType, inChunks]), lines('1;a=')]),
]

/** Parts of a head or of a body, which are sent many times. */
const fillings: readonly Buffer[] = [
  ...['\r\n', 'a: b\r\n', 'x', '1\r\nx\r\n', '4\r\n\r\n\r\n\r\n', ';a=b', '--b\r\n', '\0', '0\r\n'],
  'Content-Disposition: form-data; name="a"\r\n\r\nb\r\n--b\r\n',
].map(lines)

const times = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 20 }) },
  fc.integer({ min: 1, max: 100_000 }),
)
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...requests) },
  { weight: 2, arbitrary: mutated(fc.constantFrom(...requests, ...beginnings), 3) },
  { weight: 2, arbitrary: fc.constantFrom(...beginnings) },
  { weight: 2, arbitrary: fc.constantFrom(...fillings) },
  fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array)),
)
const sending: fc.Arbitrary<Sending> = fc.record({
  pieces: fc.array(fc.tuple(bytes, times), { minLength: 1, maxLength: 6 }),
  cut: fc.oneof({ weight: 2, arbitrary: fc.constant(10_000) }, fc.nat(10_000)),
  step: fc.constantFrom(1, 7, 1_460, 65_536, 2 ** 20),
  isUnread: fc.boolean(),
  end: fc.constantFrom('stay', 'half-close', 'reset'),
})

/** Connections that send at the same time: requests of all kinds, cut anywhere, read or not, and what is no request. */
export function connections(
  figures: ConnectionFigures = { mostMiB: 0, mostMiBInAll: 0, slowestMs: 0 },
): FuzzTarget {
  return createTarget({
    name: 'connections',
    // Each takes a hundred times as long as the inputs of the others.
    share: 0.2,
    inputs: fc.array(sending, { minLength: 1, maxLength: 4 }),
    open: () => openConnectionSubject(figures),
  })
}
