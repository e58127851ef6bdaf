import { expect } from 'chai'
import { exchange } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { auth, runApp, type RunningApp } from '../support/running-app.ts'

/** What Node counts: the target, and the names and values of the header fields, without what is between them. */
const limit = 16 * 1024

const credentials = Object.entries(auth)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

const request = (line: string, fields: string, body = '') =>
  `${line} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`

describe("The limits of a request's head", () => {
  let app: RunningApp
  before(async () => {
    app = await runApp()
  })
  after(() => app[Symbol.asyncDispose]())

  const counted = '/list'.length + 'Hosta'.length + Object.entries(auth).flat().join('').length

  it('let header fields of exactly so many bytes pass, and not one byte more: 431', async () => {
    const withBytes = (bytes: number) =>
      exchange(
        app.port,
        request('GET /list', `${credentials}x:${'y'.repeat(bytes - counted - 1)}\r\n`),
      )
    const most = await withBytes(limit - 1)
    expect(most.body).to.include('No files uploaded yet')
    const beyond = await withBytes(limit)
    expectError(beyond)
    expect(beyond.status).to.equal(431)
    expect(beyond.body).to.include('The headers are too large')
  })

  it('let a target of exactly so many bytes pass, and not one byte more: 431', async () => {
    const withBytes = (bytes: number) => {
      const query = '?'.padEnd(bytes - counted, 'q')
      return exchange(app.port, request(`GET /list${query}`, credentials))
    }
    expect((await withBytes(limit - 1)).body).to.include('No files uploaded yet')
    const beyond = await withBytes(limit)
    expectError(beyond)
    expect(beyond.status).to.equal(431)
  })

  it('let 1,000 header fields pass, and not one more: 431, rather than that any is dropped', async () => {
    const withFields = (count: number) => {
      const others = 'a:b\r\n'.repeat(count - 3)
      return exchange(app.port, request('GET /list', others + credentials))
    }
    expect((await withFields(1_000)).body).to.include('No files uploaded yet')
    for (const count of [1_001, 1_500, 3_000, 7_000]) {
      const beyond = await withFields(count)
      expectError(beyond)
      expect(beyond.status).to.equal(431)
    }
  })

  it('let no upload pass whose condition stands behind so many fields', async () => {
    await app.files.upload('kept.txt', new Blob(['kept']).stream())
    const fields = `${credentials}Content-Length: 3\r\n${'a:b\r\n'.repeat(3_000)}If-None-Match: *\r\n`
    const answer = await exchange(app.port, request('PUT /upload/kept.txt', fields, 'new'))
    expectError(answer)
    const { size } = await app.files.stat('kept.txt')
    expect(size).to.equal(4)
    await app.files.delete('kept.txt')
  })
})
