import { createFileService, FileServiceError } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { createApp } from '../../src/app.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { collectAudit, event, type StableEvent } from '../support/collected-audit.ts'
import { listen } from '../support/listening.ts'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  formType,
  request,
  textPart,
} from '../support/request.ts'
import { auth, runApp, type RunOptions } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

const batch = (...parts: readonly string[]) =>
  customerRequest('POST', '/upload/batch', { 'Content-Type': formType }, form(...parts))
const put = (path: string, body = '12345', headers = {}) =>
  customerRequest('PUT', `/upload/${path}`, headers, body)
const login = (headers: Readonly<Record<string, string>>) => request('GET', '/list', headers)
const refused = (reason: string, more: Partial<StableEvent> = {}) =>
  event({ outcome: 'refused', reason, ...more })
const rename = (name: string, body: string) => customerRequest('POST', `/rename/${name}`, {}, body)
const renamed = (more: Partial<StableEvent>) => event({ event: 'rename', file: 'taken', ...more })
const restore = (name: string, body: string) =>
  customerRequest('POST', `/restore/${name}`, {}, body)
const restored = (more: Partial<StableEvent>) => event({ event: 'restore', file: 'kept', ...more })
const refusal = (reason: string) => ({ outcome: 'refused', reason }) as const
const digest = 'sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:'
const long = 'x'.repeat(300)

/** There is one file, `taken`, and a deleted one, `kept`. */
const table: readonly (readonly [
  title: string,
  request: Buffer,
  ...events: readonly StableEvent[],
])[] = [
  ['a form', formRequest(form(filePart('a', '123'))), event({ file: 'a', bytes: 3 })],
  ['an empty file', put('a', '', { 'Content-Length': 0 }), event({ file: 'a', bytes: 0 })],
  ['a raw body', put('a%20%E2%82%AC'), event({ file: 'a €', bytes: 5 })],
  ['a replacement', put('taken'), event({ file: 'taken', bytes: 5 })],
  ['a path for a name', formRequest(form(filePart('b/a'))), event({ file: 'a', bytes: 7 })],
  ['a name with a line break', put('a%0Ab'), refused('invalid-file-name', { file: 'a\nb' })],
  ['quotes', put('%22a%22%E2%80%A8'), event({ file: '"a"\u2028', bytes: 5 })],
  ['an invalid name', put('..%2f'), refused('invalid-file-name', { file: '../' })],
  ['a name in no encoding', put('%ff'), refused('invalid-file-name')],
  ['a name too long', put(long), refused('invalid-file-name', { file: `${long.slice(45)}…` })],
  ['no name', put(''), refused('no-file-name')],
  [
    'a name in a form',
    formRequest(form(filePart('..'))),
    refused('invalid-file-name', { file: '..' }),
  ],
  [
    'a form in no encoding',
    formRequest(form(filePart('\xff'))),
    refused('invalid-file-name', { file: '\ufffd' }),
  ],
  ['the end of all links', customerRequest('DELETE', '/links'), event({ event: 'revoke-links' })],
  ['a rename', rename('taken', '{"to":"b"}'), renamed({ to: 'b' })],
  [
    'a rename that is refused',
    rename('taken', '{"to":"taken","createOnly":1}'),
    renamed({ ...refusal('invalid-field') }),
  ],
  [
    'a rename to no name',
    rename('taken', '{"to":"../"}'),
    renamed({ to: '../', ...refusal('invalid-field') }),
  ],
  [
    'a rename of nothing',
    rename('none', '{"to":"b"}'),
    renamed({ file: 'none', to: 'b', ...refusal('not-found') }),
  ],
  ['a restore', restore('kept', '{}'), restored({ bytes: 4 })],
  ['a restore of its own name', restore('kept', '{"as":"kept"}'), restored({ bytes: 4 })],
  ['a restore as another file', restore('kept', '{"as":"b"}'), restored({ to: 'b', bytes: 4 })],
  [
    'a restore as a file that exists',
    restore('kept', '{"as":"taken","createOnly":true}'),
    restored({ to: 'taken', ...refusal('already-exists') }),
  ],
  [
    'a restore as no name',
    restore('kept', '{"as":"../"}'),
    restored({ to: '../', ...refusal('invalid-field') }),
  ],
  [
    'a restore of nothing',
    restore('none', ''),
    restored({ file: 'none', ...refusal('version-not-found') }),
  ],
  [
    'a restore without a name',
    restore('', ''),
    restored({ file: undefined, ...refusal('no-file-name') }),
  ],
  ['no file', formRequest(form(textPart('a', 'b'))), refused('no-file')],
  ['no form', formRequest('nonsense'), refused('malformed-multipart')],
  [
    'two files',
    formRequest(form(filePart('a'), filePart('b'))),
    refused('more-than-one-file', { file: 'a' }),
  ],
  [
    'create-only',
    put('taken', '', { 'If-None-Match': '*' }),
    refused('already-exists', { file: 'taken' }),
  ],
  ['a header', put('a', '', { 'If-None-Match': '"a"' }), refused('invalid-header', { file: 'a' })],
  [
    'a deletion with a condition',
    customerRequest('DELETE', '/delete/a', { 'If-Match': '"a"' }),
    refused('invalid-header', { event: 'delete', file: 'a' }),
  ],
  [
    'a digest',
    put('a', '1', { 'Content-Digest': digest }),
    refused('digest-mismatch', { file: 'a' }),
  ],
  ['too much', put('a', 'x'.repeat(101)), refused('file-too-large', { file: 'a' })],
  [
    'a batch',
    batch(filePart('a', '1'), filePart('..'), filePart('b/c', '22')),
    event({ file: 'a', bytes: 1 }),
    refused('invalid-file-name', { file: '..' }),
    event({ file: 'c', bytes: 2 }),
  ],
  ['a batch of nothing', batch(textPart('a', 'b')), refused('no-file')],
  [
    'a batch with a wrong header',
    customerRequest(
      'POST',
      '/upload/batch',
      { 'Content-Type': formType, 'If-None-Match': 'a' },
      form(filePart('a')),
    ),
    refused('invalid-header'),
  ],
  [
    'a batch with a digest of no file',
    batch(filePart('a', '1'), textPart('sha256', '0'.repeat(64))),
    event({ file: 'a', bytes: 1 }),
  ],
  [
    'a deletion',
    customerRequest('DELETE', '/delete/taken'),
    event({ event: 'delete', file: 'taken' }),
  ],
  [
    'a deletion in vain',
    customerRequest('DELETE', '/delete/none'),
    refused('not-found', { event: 'delete', file: 'none' }),
  ],
  [
    'a deletion of no name',
    customerRequest('DELETE', '/delete/%01'),
    refused('invalid-file-name', { event: 'delete', file: '\u0001' }),
  ],
  [
    'a deletion of nothing',
    customerRequest('DELETE', '/delete'),
    refused('no-file-name', { event: 'delete' }),
  ],
  [
    'no credentials',
    login({}),
    refused('missing-credentials', { event: 'login', customer: undefined }),
  ],
  [
    'no password',
    login({ 'x-auth-name': 'demo' }),
    refused('missing-credentials', { event: 'login' }),
  ],
  [
    'a wrong password',
    login({ ...auth, 'x-auth-password': 'open' }),
    refused('invalid-credentials', { event: 'login' }),
  ],
  [
    'a stranger',
    login({ ...auth, 'x-auth-name': '"z\xc3\xb6e"' }),
    refused('invalid-credentials', { event: 'login', customer: '"zöe"' }),
  ],
  [
    'a name of 300 characters',
    login({ ...auth, 'x-auth-name': long }),
    refused('invalid-credentials', { event: 'login', customer: `${long.slice(45)}…` }),
  ],
  [
    'a login at an upload',
    request('PUT', '/upload/a', { ...auth, 'x-auth-password': 'open' }, 'x'),
    refused('invalid-credentials', { event: 'login' }),
  ],
  [
    'an address of a proxy',
    customerRequest('PUT', '/upload/a', { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' }, 'x'),
    event({ file: 'a', bytes: 1, address: '203.0.113.9' }),
  ],
  ['a ping', request('GET', '/ping')],
  ['a download', customerRequest('GET', '/serve/taken')],
  ['a listing', customerRequest('GET', '/list')],
  ['an unknown path', request('PUT', '/uploads/a', {}, 'x')],
  ['a wrong method', customerRequest('DELETE', '/upload/a')],
]

async function run(options: RunOptions = {}) {
  const collected = collectAudit()
  const app = await runApp({ audit: collected.audit, maxFileSize: 100, ...options })
  return Object.assign(app, { events: collected.events, stable: () => collected.stable() })
}

describe('The option audit', () => {
  for (const [title, bytes, ...events] of table) {
    it(`gets ${title}: ${events.map(({ reason }) => reason ?? 'ok').join(', ') || 'nothing'}`, async () => {
      await using app = await run({ trustedProxies: ['127.0.0.1'], keepReplacedMs: 60_000 })
      await app.files.upload('taken', new Blob(['old']).stream())
      await app.files.upload('kept', 'kept')
      await app.files.delete('kept')
      const before = Date.now()
      const answer = await exchange(app.port, bytes)
      // Told before the answer: there is nothing to wait for.
      expect(app.stable()).to.deep.equal(events)
      for (const { requestId, time } of app.events) {
        expect(requestId).to.equal(answer.headers.get('x-request-id'))
        expect(time.getTime()).to.be.within(before, Date.now())
      }
    })
  }

  const down = new FileServiceError('store-unavailable', 'down')
  for (const [title, error, reason] of [
    ['a store that is away', down, 'store-unavailable'],
    ['a full store', new FileServiceError('insufficient-storage', 'full'), 'insufficient-storage'],
    ['a fault', new TypeError('secret'), 'unexpected'],
  ] as const) {
    it(`gets ${title} as failed`, async () => {
      const fail = () => Promise.reject(error)
      await using app = await run({
        store: { ...createMemoryBlobStore(), put: fail, delete: fail },
      })
      await exchange(app.port, put('a'))
      await exchange(app.port, formRequest(form(filePart('b'))))
      await exchange(app.port, batch(filePart('c')))
      await exchange(app.port, customerRequest('DELETE', '/delete/d'))
      const failed = (file: string) => event({ outcome: 'failed', reason, file })
      expect(app.stable()).to.deep.equal([
        ...['a', 'b', 'c'].map(failed),
        { ...failed('d'), event: 'delete' },
      ])
    })
  }

  const beginnings = [
    [
      'a raw body',
      customerRequest('PUT', '/upload/a', { 'Content-Length': 100 }),
      'truncated-body',
      'x',
    ],
    ['a form', formRequest('', { 'Content-Length': 1000 }), 'malformed-multipart', filePart('a')],
    [
      'a batch',
      customerRequest('POST', '/upload/batch', {
        'Content-Type': formType,
        'Content-Length': 1000,
      }),
      'malformed-multipart',
      filePart('a'),
    ],
  ] as const
  for (const [title, head, reason, begin] of beginnings) {
    it(`gets ${title} whose client leaves as aborted, with the address`, async () => {
      const store = watchStore()
      await using app = await run({ store })
      using connection = await openConnection(app.port)
      connection.write(head)
      connection.write(begin)
      await until('the upload is under way', () => store.puts() > 0)
      connection.reset()
      await until('it is told', () => app.events.length > 0)
      expect(app.stable()).to.deep.equal([event({ outcome: 'aborted', reason, file: 'a' })])
      expect(await app.names()).to.deep.equal([])
    })
  }

  it('gets a client that leaves while its login waits as aborted', async () => {
    const trail = collectAudit()
    let isWaiting = false
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials: createMemoryCredentialSource([]),
      verifyPassword: (_password, _hash, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          isWaiting = true
          signal?.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    await using server = await listen(createHttpServer(createApp(service, { audit: trail.audit })))
    using connection = await openConnection(server.port)
    connection.write(login(auth))
    await until('the login waits', () => isWaiting)
    connection.reset()
    await until('it is told', () => trail.events.length > 0)
    expect(trail.stable()).to.deep.equal([
      event({ event: 'login', outcome: 'aborted', reason: 'truncated-body' }),
    ])
  })

  for (const [title, bytes] of [
    ['a raw body', put('a')],
    ['a form', formRequest(form(filePart('a')))],
    ['a batch', batch(filePart('a'))],
    ['a deletion', customerRequest('DELETE', '/delete/taken')],
  ] as const) {
    it(`makes the answer to ${title} 500 if it rejects, and is not called twice`, async () => {
      let calls = 0
      const audit = () => {
        calls++
        return Promise.reject(new Error('no paper'))
      }
      await using app = await run({ audit })
      await app.files.upload('taken', new Blob(['old']).stream())
      const answer = await exchange(app.port, bytes)
      expect([answer.status, calls]).to.deep.equal([500, 1])
      expect(JSON.stringify(app.log.lines.map(({ fields }) => fields))).to.not.include('sesame')
    })
  }

  it('is waited for before the client is answered', async () => {
    const gate = Promise.withResolvers<undefined>()
    let isTold = false
    const audit = () => {
      isTold = true
      return gate.promise
    }
    await using app = await run({ audit })
    using connection = await openConnection(app.port)
    connection.write(put('a'))
    await until('it is told', () => isTold)
    expect(await app.names(), 'the file is safe by then').to.deep.equal(['a'])
    expect(connection.received().length).to.equal(0)
    gate.resolve(undefined)
    expect((await connection.answer()).body).to.equal('OK')
  })
})
