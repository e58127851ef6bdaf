import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { leavingSignal } from '../../src/server/connection.ts'
import { createHttpServer, nodeOptions, prepareServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { request } from '../support/request.ts'

const answered = { 'Connection: keep-alive': {}, 'Connection: close': { Connection: 'close' } }

/** A server that answers every request but those for `/never`, and keeps the signal of the last connection. */
async function runSignals(create: typeof createHttpServer = createHttpServer) {
  let signal: AbortSignal | undefined
  let answers = 0
  let ended = Promise.resolve<unknown>(undefined)
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    signal = leavingSignal(incoming.socket)
    ended = new Promise((resolve) => incoming.socket.once('close', resolve))
    answers++
    if (incoming.url !== '/never') response.end('<answer>')
  }
  return {
    ...(await listen(create({ callback: () => answer }))),
    /** How many requests had their turn. */
    answers: () => answers,
    /** Whether the signal has aborted once the connection is gone. */
    async hasAborted() {
      await ended
      return signal?.aborted
    },
  }
}

describe('leavingSignal', () => {
  for (const [title, headers] of Object.entries(answered)) {
    it(`does not abort when all was answered, with ${title}`, async () => {
      await using app = await runSignals()
      using connection = await openConnection(app.port)
      connection.write(request('GET', '/', headers))
      await until('it was answered', () => connection.received().includes('<answer>'))
      connection.close()
      expect(await app.hasAborted()).to.equal(false)
    })
  }

  it('aborts when the client leaves before the answer', async () => {
    await using app = await runSignals()
    using connection = await openConnection(app.port)
    connection.write(request('GET', '/never'))
    await until('it came', () => app.answers() === 1)
    connection.reset()
    expect(await app.hasAborted()).to.equal(true)
  })

  it('aborts where the end of the response is reported before that of the connection', async () => {
    // As on Bun and Deno, where connections are not known before their first request.
    await using app = await runSignals((application) => {
      const server = createServer(nodeOptions({}))
      prepareServer(server, application, {})
      return server
    })
    using connection = await openConnection(app.port)
    connection.write(request('GET', '/never'))
    await until('it came', () => app.answers() === 1)
    connection.reset()
    expect(await app.hasAborted()).to.equal(true)
  })

  it('aborts when the client leaves with one of its requests unanswered', async () => {
    await using app = await runSignals()
    using connection = await openConnection(app.port)
    connection.write(request('GET', '/'))
    await until('the first was answered', () => connection.received().includes('<answer>'))
    connection.write(request('GET', '/never'))
    connection.write(request('GET', '/'))
    await until('the second came', () => app.answers() === 2)
    connection.reset()
    expect(await app.hasAborted()).to.equal(true)
  })
})
