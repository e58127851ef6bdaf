import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { openConnection, until, type Connection } from '@holdfast/testing'
import { createHttpServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { customerRequest, request } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** A server of ours that knows which of its requests and responses are still in memory. */
async function runWatched() {
  const seen: WeakRef<IncomingMessage | ServerResponse>[] = []
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    incoming.resume()
    response.end('<answer>')
  }
  const server = createHttpServer({ callback: () => answer })
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    seen.push(new WeakRef(incoming), new WeakRef(response))
  })
  return {
    ...(await listen(server)),
    seen: () => seen.length,
    kept() {
      collectGarbage()
      return seen.filter((one) => one.deref() !== undefined).length
    },
  }
}

const answersIn = (connection: Connection) => connection.received().split('<answer>').length - 1

describe('connectionOf', () => {
  it('keeps nothing of a request that was answered while the connection stays open', async () => {
    await using app = await runWatched()
    using connection = await openConnection(app.port)
    connection.write(request('GET', '/'))
    await until('the first was answered', () => answersIn(connection) === 1)
    connection.write(request('PUT', '/', {}, 'body'))
    await until('the second was answered', () => answersIn(connection) === 2)
    expect(app.seen()).to.equal(4)
    await until('both are forgotten', () => app.kept() === 0)
    connection.write(request('GET', '/'))
    await until('the third was answered', () => answersIn(connection) === 3)
  })

  it('keeps what is needed of a request whose body is not complete', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port)
    connection.write(customerRequest('PUT', '/upload/..', { 'Content-Length': 10 }, 'body'))
    await until('it was refused', () => connection.received().includes('Invalid filename'))
    connection.write(`123456${request('GET', '/ping').toString()}`)
    await until('the next was answered', () => connection.received().includes('pong'))
  })
})
