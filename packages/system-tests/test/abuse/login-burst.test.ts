import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, type Answer } from '../black-box/support/answer.ts'
import { authHeaders } from '../black-box/support/customer-client.ts'
import { requestHead } from '../black-box/support/request-head.ts'
import {
  anna,
  startService,
  type RunningService,
  type ServiceOptions,
} from '../black-box/support/running-service.ts'

const start = (options: ServiceOptions = {}) =>
  startService(
    async () => ({
      store: createMemoryBlobStore(),
      litter: async () => [],
      close: async () => {},
    }),
    options,
  )

/** So many logins at once, each on a connection of its own. */
function burst(service: RunningService, count: number, headersOf: (n: number) => object) {
  return Promise.all(
    Array.from({ length: count }, (_, n) =>
      service.exchange(requestHead('GET', '/list', { ...headersOf(n) })),
    ),
  )
}

const withStatus = (answers: readonly Answer[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length

describe('a burst of logins at once', function () {
  this.timeout(60_000)
  const figures: string[] = []
  after(() => console.log(`figures: login bursts: ${figures.join('; ')}`))

  it('computes no more than ten hashes for a thousand guesses at a password', async () => {
    await using service = await start()
    const guesses = (n: number) => authHeaders({ name: 'anna', password: `guess ${n}` })
    const answers = await burst(service, 1000, guesses)
    figures.push(`1000 guesses at a password: ${service.hashes()} hashes`)
    expect(service.hashes()).to.equal(10)
    expect(withStatus(answers, 400)).to.equal(10)
    expect(withStatus(answers, 429) + withStatus(answers, 503)).to.equal(990)
  })

  it('computes no more than thirty for a thousand guesses at as many names', async () => {
    await using service = await start()
    const guesses = (n: number) => authHeaders({ name: `customer ${n}`, password: 'guess' })
    const answers = await burst(service, 1000, guesses)
    figures.push(`1000 guesses at 1000 names: ${service.hashes()} hashes`)
    expect(service.hashes()).to.equal(30)
    expect(withStatus(answers, 400)).to.equal(30)
    expect(withStatus(answers, 429) + withStatus(answers, 503)).to.equal(970)
  })

  it('does not distinguish a password in use from wrong ones that are being checked', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using service = await start({
      brake: { failuresPerName: 1 },
      beforeHash: async () => {
        if (service.hashes() > 1) await gate.promise
      },
    })
    await service.anna.list()
    const wrong = service.as({ name: 'anna', password: 'guess' }).list()
    await until('the guess is being checked', () => service.hashes() === 2)
    const right = service.anna.list()
    await service.exchange(requestHead('GET', '/ping'))
    gate.resolve(undefined)
    expectError(await wrong, 400, 'Invalid credentials')
    expectError(await right, 429, 'Too many failed logins')
  })

  it('answers guesses at a customer and at an unknown one alike, in number and order', async () => {
    const statuses: number[][] = []
    for (const name of ['anna', 'nobody']) {
      await using service = await start()
      const parallel = await burst(service, 8, (n) => authHeaders({ name, password: `guess ${n}` }))
      const answers = [...parallel]
      for (let n = 0; n < 4; n++) {
        answers.push(...(await burst(service, 1, () => authHeaders({ name, password: 'x' }))))
      }
      statuses.push(answers.map(({ status }) => status))
      expect(service.hashes(), name).to.equal(10)
    }
    expect(statuses[0]).to.deep.equal([...Array<number>(10).fill(400), 429, 429])
    expect(statuses[1]).to.deep.equal(statuses[0])
  })

  it('lets in all of 64 connections of a customer with the right password', async () => {
    await using service = await start()
    const answers = await burst(service, 64, () => authHeaders(anna))
    figures.push(`64 right logins: ${service.hashes()} hashes`)
    for (const answer of answers) expectError(answer, 400, 'No files uploaded yet')
    expect(service.hashes()).to.equal(1)
  })

  it('gives the places of clients that leave to others, without a hash', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using service = await start({
      beforeHash: async () => {
        await gate.promise
      },
    })
    const leaving = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const connection = await service.connect()
        const headers = authHeaders({ name: 'anna', password: `guess ${n}` })
        await connection.send(requestHead('GET', '/list', headers))
        return connection
      }),
    )
    await until('the first guess is being hashed', () => service.hashes() === 1)
    for (const connection of leaving) connection.reset()
    // Nine of them wait for their hash, the others for the brake.
    await until('all have left', () => service.log.length === 50)
    const customer = burst(service, 1, () => authHeaders(anna))
    gate.resolve(undefined)
    for (const answer of await customer) expectError(answer, 400, 'No files uploaded yet')
    expect(service.hashes()).to.equal(2)
  })
})
