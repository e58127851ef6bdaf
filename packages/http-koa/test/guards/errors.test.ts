import { createServer } from 'node:http'
import { createFileService, FileServiceError } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import Koa from 'koa'
import { catchConsoleErrors, exchange, until } from '@holdfast/testing'
import { createApp, createRouter } from '../../src/app.ts'
import { createErrors } from '../../src/guards/errors.ts'
import type { HoldfastState } from '../../src/server/exchange.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { expectError } from '../support/expect-error.ts'
import { generateStore } from '../support/generated-store.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const failing = (error: Error) => ({
  ...createMemoryBlobStore(),
  stat: async () => Promise.reject(error),
  open: async () => Promise.reject(error),
})

const get = customerRequest('GET', '/serve/a', { 'X-Request-Id': 'the-id' })

describe('createErrors', () => {
  it('logs the cause of a fault under the id that the client gets, and says nothing to the client', async () => {
    const fault = new Error('connect ECONNREFUSED 10.0.0.1')
    await using app = await runApp({ store: failing(fault) })
    const answer = await exchange(app.port, get)
    expectError(answer)
    expect(answer.body).to.equal(
      '{"statusCode":500,"error":"Internal Server Error","message":"An unexpected error occurred"}',
    )
    expect(answer.headers.get('x-request-id')).to.equal('the-id')
    expect(app.log.lines[0]).to.deep.equal({
      level: 'error',
      fields: { requestId: 'the-id', err: fault },
      message: 'An unexpected error occurred',
    })
  })

  it('gives faults to console.error where the application has no log', async () => {
    using caught = catchConsoleErrors()
    const service = createFileService({ store: createMemoryBlobStore() })
    const fault = new Error('a fault of authenticate')
    const authenticate = () => Promise.reject(fault)
    const routes = new Koa<HoldfastState>().use(createRouter(service, { authenticate }).routes())
    const answer = routes.callback()
    const whole = createApp(service, { authenticate })
    for (const server of [
      createServer((...exchanged) => void answer(...exchanged)),
      createHttpServer(whole),
    ]) {
      await using listening = await listen(server)
      expect((await exchange(listening.port, get)).status).to.equal(500)
    }
    expect(caught.calls).to.deep.equal(
      Array.from({ length: 2 }, () => [
        'An unexpected error occurred',
        { requestId: 'the-id', err: fault },
      ]),
    )
  })

  it('takes back what was said of a file that cannot be served', async () => {
    const store = generateStore({ size: 10, failure: new Error('a fault') })
    await using app = await runApp({ store })
    const { status, headers } = await exchange(app.port, get)
    expect(status).to.equal(500)
    expect([...headers.keys()]).to.have.members([
      ...['x-request-id', 'cache-control', 'content-type', 'content-length'],
      ...['date', 'connection', 'keep-alive'],
    ])
  })

  it('leaves what the application around it has said', async () => {
    const app = new Koa<HoldfastState>()
    app.use((ctx, next) => {
      ctx.set('Content-Security-Policy', "default-src 'self'")
      return next()
    })
    app.use(createErrors())
    app.use(() => {
      throw new Error('a fault')
    })
    await using running = await listen(createHttpServer(app))
    const { headers } = await fetch(running.url)
    expect(headers.get('content-security-policy')).to.equal("default-src 'self'")
  })

  for (const [code, status] of [
    ['store-unavailable', 503],
    ['insufficient-storage', 507],
  ] as const) {
    it(`logs ${code}, too`, async () => {
      const error = new FileServiceError(code, 'own words')
      await using app = await runApp({ store: failing(error) })
      const answer = await exchange(app.port, get)
      expectError(answer)
      expect(answer.status).to.equal(status)
      expect(app.log.lines[0]?.fields).to.deep.equal({ requestId: 'the-id', err: error })
    })
  }

  it('logs no refusal as an error, nor that there is too much to do', async () => {
    const overloaded = new FileServiceError('overloaded', 'own words')
    await using app = await runApp({ store: failing(overloaded) })
    expect((await exchange(app.port, get)).status).to.equal(503)
    expect((await exchange(app.port, request('GET', '/nowhere'))).status).to.equal(404)
    await until('both were logged', () => app.log.lines.length === 2)
    expect(app.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })
})
