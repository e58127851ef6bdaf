import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { openConnection } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { SetupError } from '@holdfast/core'
import { jsonAnswer, startAdminServer, type AdminServer } from '../../src/admin/open-admin.ts'

const address = { host: '127.0.0.1', port: 0, prefix: 'admin-' } as const

describe('startAdminServer', () => {
  let lines: string[]
  let server: AdminServer
  beforeEach(async () => {
    lines = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
    const routes = {
      '/teapot': () => jsonAnswer(418, { short: true }),
      '/broken': () => Promise.reject(new Error('a bug')),
    }
    server = await startAdminServer(address, routes, log)
  })
  afterEach(() => server.close())

  const ask = async (method: string, path: string) => {
    const { status, headers, ...answer } = await fetch(server.url + path, { method }).then(
      async (response) => ({
        status: response.status,
        headers: response.headers,
        text: await response.text(),
      }),
    )
    return { status, headers, text: answer.text }
  }

  it('answers by the path, whatever the query, and forbids caching', async () => {
    for (const path of ['/teapot', '/teapot?why=not']) {
      const { status, headers, text } = await ask('GET', path)
      expect([status, text]).to.deep.equal([418, '{"short":true}'])
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8')
      expect(headers.get('cache-control')).to.equal('no-store')
    }
  })

  it('answers a HEAD like a GET, without the text', async () => {
    const { status, headers, text } = await ask('HEAD', '/teapot')
    expect([status, text, headers.get('content-length')]).to.deep.equal([418, '', '14'])
  })

  it('refuses other methods and paths in the form of errors', async () => {
    const other = await ask('POST', '/teapot')
    expect(other.status).to.equal(405)
    expect(other.headers.get('allow')).to.equal('GET, HEAD, OPTIONS')
    expect(JSON.parse(other.text)).to.deep.equal({
      statusCode: 405,
      error: 'Method Not Allowed',
      message: 'Method not allowed. Use GET, HEAD, OPTIONS',
    })
    const options = await ask('OPTIONS', '/teapot')
    expect([options.status, options.headers.get('allow')]).to.deep.equal([
      204,
      'GET, HEAD, OPTIONS',
    ])
    for (const path of ['/', '/teapot/', '/toString', '/upload']) {
      const { status, text } = await ask('GET', path)
      expect(status, path).to.equal(404)
      expect(JSON.parse(text)).to.deep.equal({
        statusCode: 404,
        error: 'Not Found',
        message: 'Not Found',
      })
    }
  })

  it('refuses what is no HTTP in the same form', async () => {
    const connection = await openConnection(Number(new URL(server.url).port))
    connection.write('nonsense\r\n\r\n')
    await connection.closed
    expect(connection.received()).to.match(/^HTTP\/1.1 400 [^]*"statusCode":400/)
  })

  it('reports a fault in the log, and not to the client', async () => {
    const { status, text } = await ask('GET', '/broken')
    expect([status, text]).to.deep.equal([
      500,
      '{"statusCode":500,"error":"Internal Server Error","message":"An unexpected error occurred"}',
    ])
    expect(lines.join('')).to.include('the admin port cannot answer').and.include('a bug')
  })

  it('says which setting to change where it cannot listen', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const error: unknown = await startAdminServer({ ...address, port }, {}, pino()).catch(
      (reason: unknown) => reason,
    )
    other.close()
    expect(error).to.be.instanceOf(SetupError)
    expect(String(error)).to.include(
      `port ${port}: another program listens there. Stop it, or choose another --admin-port`,
    )
  })
})
