import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { SetupError } from '@holdfast/core'
import {
  jsonAnswer,
  startAdminServer,
  type AdminServer,
  type CheckResult,
  createReadiness,
  steadyCheck,
  type SteadyCheckOptions,
  freeSpaceCheck,
  workersCheck,
} from '../../src/admin/open-admin.ts'

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

describe('createReadiness', () => {
  const start = () => {
    const lines: string[] = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
    return { readiness: createReadiness(log), lines }
  }
  const told = (lines: readonly string[]) =>
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  const notServing = (why: string) => ({
    ready: false,
    checks: [{ name: 'serving', ok: false, why }],
  })

  it('is not ready before it has begun, and never again once it ends', async () => {
    const { readiness, lines } = start()
    expect(await readiness.report()).to.deep.equal(notServing('the server is starting'))
    readiness.begin([])
    expect(await readiness.report()).to.deep.equal({ ready: true, checks: [] })
    readiness.end()
    expect(await readiness.report()).to.deep.equal(notServing('the server is stopping'))
    expect(lines).to.deep.equal([])
  })

  it('is ready when all checks are well, and says all that they say', async () => {
    const { readiness } = start()
    readiness.begin([
      { name: 'a', look: () => ({ ok: true, count: 1 }) },
      { name: 'b', look: async () => ({ ok: false, why: 'it is broken' }) },
    ])
    expect(await readiness.report()).to.deep.equal({
      ready: false,
      checks: [
        { name: 'a', ok: true, count: 1 },
        { name: 'b', ok: false, why: 'it is broken' },
      ],
    })
  })

  it('logs once when it is not ready, and why, and once when it is again', async () => {
    const { readiness, lines } = start()
    let result: CheckResult = { ok: true }
    readiness.begin([{ name: 'a', look: () => result }])
    await readiness.report()
    result = { ok: false, why: 'it is broken' }
    await readiness.report()
    await readiness.report()
    result = { ok: true }
    await readiness.report()
    await readiness.report()
    expect(told(lines)).to.deep.equal(['not ready', 'ready again'])
    expect(lines[0]).to.include('"why":"it is broken"')
  })

  it('does not call a server ready that has begun to end while its checks were under way', async () => {
    const { readiness } = start()
    const looking = Promise.withResolvers<CheckResult>()
    readiness.begin([{ name: 'a', look: () => looking.promise }])
    const report = readiness.report()
    readiness.end()
    looking.resolve({ ok: true })
    expect(await report).to.deep.equal(notServing('the server is stopping'))
  })
})

const hour = 60 * 60 * 1000

/** A check whose looks end when the test says how. */
function createCheck(options: SteadyCheckOptions) {
  const looks: (PromiseWithResolvers<CheckResult> & { readonly signal: AbortSignal })[] = []
  const check = steadyCheck(
    'a',
    (signal) => {
      const look = { ...Promise.withResolvers<CheckResult>(), signal }
      looks.push(look)
      return look.promise
    },
    options,
  )
  return { look: async () => check.look(), looks }
}

describe('steadyCheck', () => {
  it('looks once for all who ask meanwhile, and says how long it took', async () => {
    const { look, looks } = createCheck({ freshMs: hour, limitMs: hour })
    const asked = [look(), look(), look()]
    looks[0]?.resolve({ ok: true, count: 7 })
    for (const result of await Promise.all([...asked, look()])) {
      expect(result).to.include({ ok: true, count: 7 })
      expect(result['durationMs']).to.be.a('number')
    }
    expect(looks).to.have.length(1)
  })

  it('looks again when a result is not fresh any more', async () => {
    const { look, looks } = createCheck({ freshMs: 0, limitMs: hour })
    for (const ok of [true, false, true]) {
      const asked = look()
      looks.at(-1)?.resolve({ ok })
      expect(await asked).to.include({ ok })
    }
    expect(looks).to.have.length(3)
  })

  it('says what a look threw, with its cause, as what is wrong', async () => {
    const { look, looks } = createCheck({ limitMs: hour })
    const asked = look()
    looks[0]?.reject(new Error('The store is away', { cause: new Error('EIO') }))
    expect(await asked).to.include({ ok: false, why: 'The store is away: EIO' })
  })

  it('goes by the last result while a look takes long, and begins no other', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: hour })
    const first = look()
    looks[0]?.resolve({ ok: true, count: 1 })
    await first
    for (let count = 0; count < 3; count++) expect(await look()).to.include({ count: 1 })
    expect(looks).to.have.length(2)
    looks[1]?.resolve({ ok: true, count: 2 })
    await until('the second result is told', async () => (await look())['count'] === 2)
  })

  it('fails when there is no result within the limit, gives the look up, and is well again after it', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: 50 })
    for (const asked of [look(), look()]) {
      const { ok, why } = await asked
      expect(ok).to.equal(false)
      expect(why).to.match(/^there has been no answer for \d+ s$/)
    }
    expect(looks).to.have.length(1)
    await until('the look is given up', () => looks[0]?.signal.aborted === true)
    looks[0]?.reject(new Error('given up'))
    await until('another look begins', async () => {
      looks.at(-1)?.resolve({ ok: true })
      return (await look()).ok
    })
  })

  it('fails when the last result is older than the limit', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: 50 })
    const first = look()
    looks[0]?.resolve({ ok: true })
    expect(await first).to.include({ ok: true })
    await until('nobody believes the old result', async () => !(await look()).ok)
    expect(looks).to.have.length(2)
  })
})

describe('freeSpaceCheck', () => {
  it('is content with the least that there has to be, and not with a byte less', async () => {
    const look = (bytes: number) => freeSpaceCheck(async () => bytes, 5_000_000).look()
    const figures = { least: 5_000_000 }
    expect(await look(5_000_000)).to.include({ ok: true, bytes: 5_000_000, ...figures })
    expect(await look(4_999_999)).to.include({
      ok: false,
      why: '5.00 MB are left, less than the 5.00 MB of --min-free-space',
      bytes: 4_999_999,
      ...figures,
    })
  })
})

describe('workersCheck', () => {
  it('wants all workers to answer, and says how many do', async () => {
    const look = (count: number) => workersCheck({ wanted: 4, answering: async () => count }).look()
    expect(await look(4)).to.include({ ok: true, count: 4, wanted: 4 })
    expect(await look(3)).to.include({ ok: false, why: '3 of 4 answer', count: 3, wanted: 4 })
  })
})
