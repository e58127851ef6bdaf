import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { expectOk, type Answer } from './answer.ts'
import { formData, type CustomerClient } from './customer-client.ts'

/** What the file `a` is before a request, in several chunks of every store. */
export const older = 'o'.repeat(300_000)
/** What requests upload. */
export const newer = 'n'.repeat(40_000)

/** A request that meets the store. */
export interface FaultyRequest {
  send(client: CustomerClient, signal?: AbortSignal): Promise<Answer>
  /** What is answered when all goes well. */
  expectDone(answer: Answer): void
  /** What the customer keeps afterwards, who kept `a` alone before. */
  readonly leaves: Readonly<Record<string, string>>
  /** Whether the answer has no body. Default: it has. */
  readonly isHead?: boolean
  /** Whether the service has counted what the customer keeps. Default: not yet. */
  readonly isCounted?: boolean
}

const storing = (send: FaultyRequest['send'], name = 'a'): FaultyRequest => ({
  send,
  expectDone: expectOk,
  leaves: { a: older, [name]: newer },
})

const reading = (send: FaultyRequest['send'], status: number, body: string): FaultyRequest => ({
  send,
  expectDone: (answer) => {
    expect(answer.status).to.equal(status)
    expect(answer.bytes.toString() === body, 'the whole body').to.equal(true)
  },
  leaves: { a: older },
})

const sha256 = createHash('sha256').update(newer).digest('hex')
const ifNew = { 'If-None-Match': '*' }
const orGone = (signal?: AbortSignal) => (signal ? { signal } : {})

const post = (name: string, fields = {}, headers = {}): FaultyRequest =>
  storing(
    (client, signal) =>
      client.send('POST', '/upload', {
        body: formData(name, newer, fields),
        headers,
        ...orGone(signal),
      }),
    name,
  )
const put = (name: string, headers = {}): FaultyRequest =>
  storing(
    (client, signal) =>
      client.send('PUT', `/upload/${name}`, { body: newer, headers, ...orGone(signal) }),
    name,
  )
const get = (path: string, status: number, body: string, headers = {}): FaultyRequest =>
  reading(
    (client, signal) => client.send('GET', path, { headers, ...orGone(signal) }),
    status,
    body,
  )
const head = (path: string): FaultyRequest => ({
  ...reading((client, signal) => client.send('HEAD', path, orGone(signal)), 200, ''),
  isHead: true,
})
const remove: FaultyRequest = {
  send: (client, signal) => client.send('DELETE', '/delete/a', orGone(signal)),
  expectDone: expectOk,
  leaves: {},
}
const unsatisfiable =
  '{"statusCode":416,"error":"Range Not Satisfiable","message":"Range not satisfiable"}'

/** Every request that meets the store, by its name. */
export const faultyRequests: Readonly<Record<string, FaultyRequest>> = {
  'POST /upload': post('a'),
  'POST /upload with a digest': { ...post('a', { sha256 }), isCounted: true },
  'POST /upload that creates': post('b', {}, ifNew),
  'PUT /upload/:filename': put('a'),
  'PUT /upload/:filename by a customer who is counted': { ...put('a'), isCounted: true },
  'PUT /upload/:filename that creates': { ...put('b', ifNew), isCounted: true },
  'GET /serve/:filename': get('/serve/a', 200, older),
  'GET /serve/:filename in part': get('/serve/a', 206, older.slice(2), {
    Range: 'bytes=1-299998',
  }),
  'GET /serve/:filename on condition': get('/serve/a', 200, older, { 'If-None-Match': '"b"' }),
  'GET /serve/:filename of a range that is not there': get('/serve/a', 416, unsatisfiable, {
    Range: 'bytes=300000-',
  }),
  'HEAD /serve/:filename': head('/serve/a'),
  'GET /list': get('/list', 200, '["a"]'),
  'GET /list by pages': get('/list?after=0&limit=10', 200, '["a"]'),
  'HEAD /list': head('/list'),
  'DELETE /delete/:filename': remove,
  'DELETE /delete/:filename by a customer who is counted': { ...remove, isCounted: true },
}
