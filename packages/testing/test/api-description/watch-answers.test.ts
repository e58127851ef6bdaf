import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { watchAnswers } from '../../src/api-description/index.ts'

const pong: RequestListener = (_request, response) => {
  response.setHeader('x-request-id', '7').setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.end('pong')
}

/** What becomes of GET of a path of a server that answers as `listener` does. */
async function ask(listener: RequestListener, path: string) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  const watched = watchAnswers(server)
  await once(server, 'listening')
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).text()
  server.close()
  server.closeAllConnections()
  return watched
}

describe('watchAnswers', () => {
  it('is content with what docs/openapi.yaml knows', async () => {
    const watched = await ask(pong, '/ping')
    watched.expectDescribed()
    expect(watched.count()).to.equal(1)
  })

  it('names each answer that it does not know', async () => {
    const watched = await ask(pong, '/list')
    expect(() => watched.expectDescribed()).to.throw(
      '200 to GET /list: header cache-control is missing',
    )
  })

  it('sees what is written past the server', async () => {
    const watched = await ask((request) => {
      request.socket.write('HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n')
      request.socket.end()
    }, '/ping')
    expect(watched.count()).to.equal(1)
    expect(() => watched.expectDescribed()).to.throw(
      '418 to GET /ping: status 418 is not described',
    )
  })
})
