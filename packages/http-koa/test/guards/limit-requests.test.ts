import { expect } from 'chai'
import { type Answer, exchange, openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { generateStore } from '../support/generated-store.ts'
import { headersOf, runLimitedApp, type LimitedApp } from '../support/limited-app.ts'
import { request } from '../support/request.ts'
import { watchStore } from '../support/watched-store.ts'

const megabytes = 1_000_000

function expectOverloaded(answer: Answer): void {
  expectError(answer)
  expect([answer.status, answer.body]).to.deep.equal([
    503,
    '{"statusCode":503,"error":"Service Unavailable","message":"Overloaded"}',
  ])
  expect(answer.headers.get('retry-after')).to.equal('1')
}

/** Waits until there is one slot again, and proves that there is no second one. */
async function expectOnePlace(app: LimitedApp, taken: () => boolean): Promise<void> {
  await until('there is a slot again', async () => (await app.list()).status !== 503)
  using _holder = await app.beginUpload()
  await until('the slot is taken', taken)
  expectOverloaded(await app.list())
}

describe('createRequestLimit', () => {
  it('lets exactly so many requests be under way, and refuses the next with 503 and Retry-After', async () => {
    const store = watchStore()
    await using app = await runLimitedApp({ store, maxRequests: 2 })
    using _one = await app.beginUpload()
    await until('an upload is under way', () => store.taken() === 4)
    expect((await app.list()).status).to.equal(400)
    using _two = await app.beginUpload('other')
    await until('two uploads are under way', () => store.taken() === 8)
    expectOverloaded(await app.list())
    expectOverloaded(await app.list('other'))
  })

  it('refuses those who have logged in, before their body is sent', async () => {
    const store = watchStore()
    await using app = await runLimitedApp({ store, maxRequests: 1 })
    using _one = await app.beginUpload()
    await until('an upload is under way', () => store.taken() === 4)
    const stranger = request('GET', '/list', headersOf('demo', 'wrong'))
    expect((await exchange(app.port, stranger)).body).to.include('Invalid credentials')
    const asking = { ...headersOf('demo'), 'Content-Length': 9, Expect: '100-continue' }
    expectOverloaded(await exchange(app.port, request('PUT', '/upload/a', asking)))
    const large = { ...headersOf('demo'), 'Content-Length': 2 ** 40 }
    const refused = await exchange(app.port, request('PUT', '/upload/a', large))
    expectOverloaded(refused)
    expect(refused.headers.get('connection')).to.equal('close')
    expect(store.puts()).to.equal(1)
  })

  it('never refuses /ping, nor what asks for no file', async () => {
    await using app = await runLimitedApp({ maxRequests: 0 })
    expectOverloaded(await app.list())
    const ping = await exchange(app.port, request('GET', '/ping'))
    expect([ping.status, ping.body]).to.deep.equal([200, 'pong'])
    expect((await fetch(`${app.url}/list`, { method: 'OPTIONS' })).status).to.equal(204)
    expect((await exchange(app.port, request('GET', '/nowhere'))).status).to.equal(404)
  })

  it('says in the log line why, and writes no line of a fault', async () => {
    await using app = await runLimitedApp({ maxRequests: 0, maxRequestsPerCustomer: 1 })
    expectOverloaded(await app.list())
    await until('the request is logged', () => app.log.lines.length > 0)
    const [line, ...others] = app.log.lines
    expect(line?.fields).to.include({ status: 503, reason: '0 requests are under way already' })
    expect(others).to.deep.equal([])
  })

  describe('gives a slot back', () => {
    const store = () => watchStore()

    it('when a request is answered, also with an error', async () => {
      const watched = store()
      await using app = await runLimitedApp({ store: watched, maxRequests: 1 })
      for (let n = 0; n < 5; n++) expect((await app.list()).status).to.equal(400)
      const put = request('PUT', '/upload/a', headersOf('demo'), 'text')
      for (let n = 0; n < 5; n++) expect((await exchange(app.port, put)).status).to.equal(200)
      await expectOnePlace(app, () => watched.taken() === 24)
    })

    for (const [how, end] of [
      ['closes', 'halfClose'],
      ['resets', 'reset'],
    ] as const) {
      it(`when a client ${how} in the middle of an upload`, async () => {
        const watched = store()
        await using app = await runLimitedApp({ store: watched, maxRequests: 1 })
        using upload = await app.beginUpload()
        await until('the upload is under way', () => watched.taken() === 4)
        expectOverloaded(await app.list())
        upload[end]()
        await expectOnePlace(app, () => watched.taken() === 8)
      })
    }

    it('when a client that sends nothing more is cut off', async () => {
      const watched = store()
      await using app = await runLimitedApp({ store: watched, maxRequests: 1, idleTimeoutMs: 100 })
      using upload = await app.beginUpload()
      await until('the upload is under way', () => watched.taken() === 4)
      expect((await upload.answer()).status).to.equal(408)
      await until('there is a slot again', async () => (await app.list()).status === 400)
    })

    it('when the connection of requests in a row is gone, which are one at a time', async () => {
      const gate = Promise.withResolvers<undefined>()
      let opening = 0
      const beforeOpen = () => {
        opening++
        return gate.promise
      }
      const store = generateStore({ size: 10, beforeOpen })
      await using app = await runLimitedApp({ store, maxRequests: 2 })
      const get = request('GET', '/serve/a', headersOf('demo'))
      using pipeline = await openConnection(app.port)
      pipeline.write(Buffer.concat([get, get, get]))
      await until('the first waits for the store', () => opening === 1)
      using other = await openConnection(app.port)
      other.write(get)
      await until('there is no slot', async () => (await app.list()).status === 503)
      expect(opening).to.equal(2)
      pipeline.reset()
      other.reset()
      await until('the connection is gone', async () => (await app.connections()) === 0)
      // The store is still at work for them.
      expectOverloaded(await app.list())
      gate.resolve(undefined)
      await until('there is a slot again', async () => (await app.list()).status !== 503)
      using _upload = await app.beginUpload()
      expect((await app.list()).status).to.equal(400)
    })

    it('when a request has been refused, although its body is still being read', async () => {
      await using app = await runLimitedApp({ maxRequests: 1 })
      using refused = await openConnection(app.port)
      const headers = { ...headersOf('demo', 'wrong'), 'Content-Length': 2 ** 40 }
      refused.write(request('PUT', '/upload/a', headers))
      expect((await refused.answer()).status).to.equal(400)
      expect(refused.isClosed()).to.equal(false)
      expect((await app.list()).status).to.equal(400)
    })

    it('when an answer breaks off', async () => {
      const failure = new Error('The disk is gone')
      const broken = generateStore({ size: 10 * megabytes, failure, failAfter: megabytes })
      await using app = await runLimitedApp({ store: broken, maxRequests: 1 })
      using download = await openConnection(app.port)
      download.write(request('GET', '/serve/a', headersOf('demo')))
      await until('the answer broke off', () => download.isClosed())
      await until('there is a slot again', async () => (await app.list()).status !== 503)
    })
  })

  it('keeps the slot of a client that reads slowly, until it has everything or leaves', async () => {
    const large = generateStore({ size: 64 * megabytes })
    await using app = await runLimitedApp({ store: large, maxRequests: 1 })
    for (const leaves of [false, true]) {
      using download = await openConnection(app.port)
      download.pause()
      download.write(request('GET', '/serve/a', headersOf('demo')))
      await until('the download has begun', () => large.opened() > large.closed())
      expectOverloaded(await app.list())
      if (leaves) download.reset()
      else download.resume()
      await until('there is a slot again', async () => (await app.list()).status !== 503)
    }
  })

  for (const limit of ['maxRequests', 'maxRequestsPerCustomer'] as const) {
    for (const path of ['/list', '/serve/a']) {
      it(`counts no one who has not logged in, whatever the name (${limit}, ${path})`, async () => {
        const gate = Promise.withResolvers<undefined>()
        let waiting = 0
        await using app = await runLimitedApp({
          [limit]: 1,
          beforeRefusal: () => {
            waiting++
            return gate.promise
          },
        })
        const stranger = request('GET', path, headersOf('demo', 'wrong'))
        const guesses = [1, 2, 3].map(() => exchange(app.port, stranger))
        await until('the guesses wait', () => waiting === 3)
        expect((await app.list()).status).to.equal(400)
        gate.resolve(undefined)
        for (const guess of guesses) expect((await guess).body).to.include('Invalid credentials')
      })
    }
  }

  describe('for each customer', () => {
    it('serves all others while a customer is at the limit', async () => {
      const store = watchStore()
      await using app = await runLimitedApp({ store, maxRequestsPerCustomer: 3 })
      const uploads = await Promise.all([1, 2, 3].map(() => app.beginUpload()))
      await until('three uploads are under way', () => store.taken() === 12)
      expectOverloaded(await app.list())
      for (let n = 0; n < 5; n++) expect((await app.list('other')).status).to.equal(400)
      uploads[0]?.reset()
      await until('there is a slot again', async () => (await app.list()).status === 400)
      for (const upload of uploads) upload[Symbol.dispose]()
    })

    it('counts no client that has left while logging in', async () => {
      const gate = Promise.withResolvers<undefined>()
      let waiting = 0
      await using app = await runLimitedApp({
        store: generateStore({ size: 10 }),
        maxRequestsPerCustomer: 1,
        beforeLogin: () => {
          waiting++
          return gate.promise
        },
      })
      for (let n = 1; n <= 3; n++) {
        using left = await openConnection(app.port)
        left.write(request('GET', '/serve/a', headersOf('demo')))
        await until('the login waits', () => waiting === n)
        left.reset()
      }
      await until('the connections are gone', async () => (await app.connections()) === 0)
      gate.resolve(undefined)
      await until('all were logged', () => app.log.lines.length === 3)
      for (let n = 0; n < 3; n++) expect((await app.list()).status).to.equal(400)
    })
  })

  describe('in a flood', () => {
    const figures = { served: 0, refused: 0 }
    after(() => {
      const { served, refused } = figures
      console.log(
        `figures: request limits: ${served + refused} requests at once, ${served} served, ${refused} refused, at most 10 under way`,
      )
    })

    it('answers each request, and lets the store see no more than the limit', async () => {
      let most = 0
      // Nobody is done before somebody has been refused.
      const refusal = Promise.withResolvers<undefined>()
      const store = watchStore(async () => {
        most = Math.max(most, store.puts())
        await refusal.promise
        await new Promise((resolve) => setTimeout(resolve, 5))
      })
      await using app = await runLimitedApp({ store, maxRequests: 10 })
      const put = request('PUT', '/upload/a', headersOf('demo'), 'text')
      const send = async () => {
        const answer = await exchange(app.port, put)
        if (answer.status !== 200) refusal.resolve(undefined)
        return answer
      }
      const answers = await Promise.all(Array.from({ length: 300 }, send))
      for (const answer of answers) {
        if (answer.status !== 200) expectOverloaded(answer)
      }
      figures.served = answers.filter(({ status }) => status === 200).length
      figures.refused = answers.length - figures.served
      expect(figures.served).to.be.at.least(10)
      expect(figures.refused).to.be.above(0)
      expect(most).to.be.within(2, 10)
      await expectOnePlaceOfTen(app)
    })
  })
})

async function expectOnePlaceOfTen(app: LimitedApp): Promise<void> {
  const uploads = await Promise.all(Array.from({ length: 9 }, () => app.beginUpload('other')))
  expect((await app.list()).status).to.equal(200)
  for (const upload of uploads) upload[Symbol.dispose]()
}
