import { createMemoryBlobStore } from '@holdfast/core/memory'
import { FileServiceError } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { errorBody } from '../../src/errors/problem.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { customerRequest } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

/** A store whose lists have no end. */
function listForever(beforeFirst: Promise<unknown> = Promise.resolve()) {
  const state = { begun: 0, ended: 0, names: 0 }
  const store = {
    ...createMemoryBlobStore(),
    async *list() {
      state.begun++
      try {
        await beforeFirst
        while (true) {
          state.names++
          yield ['x'.repeat(200)]
        }
      } finally {
        state.ended++
      }
    },
  }
  return { state, store }
}

describe('list', () => {
  it('asks the store for no more names than the client takes', async () => {
    const { state, store } = listForever()
    await using app = await runApp({ store })
    using connection = await connectRaw(app.port)
    connection.pause()
    connection.send(customerRequest('GET', '/list'))
    await until('the server stopped listing', async () => {
      const before = state.names
      await new Promise((resolve) => setTimeout(resolve, 100))
      return before > 0 && state.names === before
    })
    expect(state.names * 200).to.be.lessThan(16 * 1024 * 1024)
    connection.reset()
    await until('the listing ended', () => state.ended === 1)
  })

  it('ends the listing of a client that left before the first name', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { state, store } = listForever(gate.promise)
    await using app = await runApp({ store })
    using connection = await connectRaw(app.port)
    connection.send(customerRequest('GET', '/list'))
    await until('the listing began', () => state.begun === 1)
    connection.reset()
    await until('the connection ended', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the listing ended', () => state.ended === 1)
  })

  it('ends a listing at once when its client leaves before the first name', async () => {
    const first = Promise.withResolvers<IteratorReturnResult<undefined>>()
    const state = { begun: false, stopped: false }
    const pages: AsyncIterator<readonly string[], undefined> = {
      next: () => {
        state.begun = true
        return first.promise
      },
      return: async () => {
        state.stopped = true
        first.resolve({ done: true, value: undefined })
        return first.promise
      },
    }
    const list = () => ({ [Symbol.asyncIterator]: () => pages })
    await using app = await runApp({ store: { ...createMemoryBlobStore(), list } })
    using connection = await connectRaw(app.port)
    connection.send(customerRequest('GET', '/list'))
    await until('the listing began', () => state.begun)
    connection.reset()
    await until('the listing was stopped', () => state.stopped)
  })

  it('ends the listing of a HEAD', async () => {
    const { state, store } = listForever()
    await using app = await runApp({ store })
    const response = await fetch(`${app.url}/list`, { method: 'HEAD', headers: auth })
    expect(response.status).to.equal(200)
    expect(state.ended).to.equal(1)
  })

  it('answers what fails before the first names are sent with an error, however late', async () => {
    for (const names of [[], ['a'], ['a', 'b', 'c']]) {
      const store = {
        ...createMemoryBlobStore(),
        async *list() {
          for (const name of names) yield [name]
          throw new FileServiceError('store-unavailable', 'gone')
        },
      }
      await using app = await runApp({ store })
      const response = await fetch(`${app.url}/list`, { headers: auth })
      expect(await response.json()).to.deep.equal(errorBody(503, 'Storage unavailable'))
    }
  })
})
