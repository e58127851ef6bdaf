import fc from 'fast-check'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { mutated } from '../mutations.ts'
import { openRawSubject } from '../raw-subject.ts'
import { chunked, demoRequest, requestOf, type HeaderLine } from '../requests.ts'

const form = Buffer.from(
  '--b\r\nContent-Disposition: form-data; name="file"; filename="new"\r\n\r\ncontent\r\n--b--\r\n',
)
const formType: HeaderLine = ['Content-Type', 'multipart/form-data; boundary=b']
const inChunks: HeaderLine = ['Transfer-Encoding', 'chunked']
const digest: HeaderLine = [
  'Content-Digest',
  'sha-256=:7XACtDnprIRfIjV9giusFERzD722AW0+yUMil7nsn3M=:',
]

const valid: readonly Buffer[] = [
  requestOf('GET', '/ping', [['Host', 'a']]),
  requestOf('GET', '/list', [['Host', 'a']]),
  requestOf('GET', '/serve/secret.txt', [
    ['Host', 'a'],
    ['x-auth-name', 'other'],
  ]),
  requestOf(
    'PUT',
    '/upload/a.txt',
    [
      ['Host', 'a'],
      ['Content-Length', '3'],
    ],
    Buffer.from('abc'),
  ),
  demoRequest('GET', '/list?prefix=a&limit=10'),
  demoRequest('GET', '/serve/a.txt', [
    ['Range', 'bytes=1-4'],
    ['If-Range', '"tag"'],
  ]),
  demoRequest('HEAD', '/serve/a.txt', [['If-None-Match', '"tag"']]),
  demoRequest('DELETE', '/delete/b'),
  demoRequest('POST', '/serve/batch', [], Buffer.from('["b","none"]')),
  demoRequest('POST', '/delete/batch', [], Buffer.from('["b","none"]')),
  demoRequest('PUT', '/upload/new', [['If-None-Match', '*'], digest], Buffer.from('content')),
  demoRequest('POST', '/upload', [formType], form),
  demoRequest('POST', '/upload/batch', [formType], form),
  Buffer.concat([demoRequest('POST', '/upload', [formType, inChunks]), chunked(form, [9, 60])]),
  Buffer.concat([demoRequest('GET', '/ping'), demoRequest('GET', '/serve/b')]),
]

const inputs = fc.oneof(
  {
    weight: 9,
    arbitrary: mutated(fc.constantFrom(...valid), 5, ['HTTP/1.1', 'GET /serve/a.txt HTTP/1.1\r\n']),
  },
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
)

/** Whole requests with changes anywhere in them, and bytes that never were one. */
export function requests(): FuzzTarget {
  const raw = inputs.map((bytes) => ({ bytes }))
  return createTarget({ name: 'requests', share: 12, inputs: raw, open: openRawSubject })
}
