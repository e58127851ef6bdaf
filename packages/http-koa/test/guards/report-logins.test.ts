import { createServer } from 'node:http'
import { createFileService, FileServiceError, isFileServiceError } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import Koa from 'koa'
import { exchange, until } from '@holdfast/testing'
import { createRouter, type LoginResult } from '../../src/index.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

/** The path of a login's request, and its code or that it was accepted. */
function summaryOf({ request: { url = '' }, error }: LoginResult): string {
  if (error === undefined) return `${url} accepted`
  return `${url} ${isFileServiceError(error) ? error.code : 'another error'}`
}

describe('onLogin', () => {
  it('is called once for each request of a customer, with the error of a refused login', async () => {
    const results: string[] = []
    await using app = await runApp({ onLogin: (result) => void results.push(summaryOf(result)) })
    const twice = `GET /list HTTP/1.1\r\nHost: h\r\nx-auth-name: a\r\nx-auth-name: b\r\nConnection: close\r\n\r\n`
    for (const bytes of [
      request('GET', '/ping'),
      customerRequest('PUT', '/upload/a.txt', {}, 'body'),
      // The fast path looks at this one first, and Koa answers it.
      customerRequest('GET', '/serve/none.txt'),
      request('GET', '/serve/a.txt', { ...auth, 'x-auth-password': 'wrong' }),
      request('GET', '/list'),
      Buffer.from(twice),
      request('GET', '/nowhere'),
    ]) {
      await exchange(app.port, bytes)
    }
    expect(results).to.deep.equal([
      '/upload/a.txt accepted',
      '/serve/none.txt accepted',
      '/serve/a.txt invalid-credentials',
      '/list missing-credentials',
      '/list missing-credentials',
    ])
  })

  it("is called with the logins of an application's own authentication", async () => {
    const results: string[] = []
    const service = createFileService({ store: createMemoryBlobStore() })
    const router = createRouter(service, {
      authenticate: async ({ headers }) => {
        if (headers.cookie === undefined) {
          throw new FileServiceError('invalid-credentials', 'No session')
        }
        return service.filesOf({ name: 'anna' })
      },
      onLogin: (result) => void results.push(summaryOf(result)),
    })
    const callback = new Koa().use(router.routes()).callback()
    await using server = await listen(createServer((...both) => void callback(...both)))
    await exchange(server.port, request('GET', '/list'))
    await exchange(server.port, request('GET', '/list', { Cookie: 's=1' }))
    expect(results).to.deep.equal(['/list invalid-credentials', '/list accepted'])
  })

  it('may fail: the error is logged, and the request is answered', async () => {
    await using app = await runApp({
      onLogin() {
        throw new Error('of the application')
      },
    })
    const asked = customerRequest('PUT', '/upload/a', { 'X-Request-Id': 'watched' }, 'body')
    expect((await exchange(app.port, asked)).body).to.equal('OK')
    const refused = await exchange(app.port, request('GET', '/list'))
    expect(refused.body).to.include('No auth headers')
    await until('both requests are logged', () => app.log.lines.length === 4)
    const failures = app.log.lines.filter(({ message }) => message === 'onLogin failed')
    expect(failures).to.have.length(2)
    expect(failures[0]?.fields).to.include({ requestId: 'watched' })
  })
})
