// It compares how long refusals take.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, openConnection } from '@holdfast/testing'
import { createFileService, type PasswordVerifier } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openFileCredentialSource } from '@holdfast/credentials-file'
import { createPasswordVerifier, hashPassword } from '@holdfast/passwords'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { expect } from 'chai'
import { requestHead } from '../black-box/support/request-head.ts'
import { mannWhitney } from './login-mann-whitney.ts'

/** About a tenth of a millisecond: so little that a difference of a few hundredths shows. */
const cost = { ln: 6, r: 8, p: 1 }

/** Logins of each kind in one comparison. */
const samples = 500

/**
 * The normal deviate beyond which two kinds count as told apart. Chance alone gets beyond it, on either side, in 1 of
 * 10,000 comparisons; only three comparisons in a row count, each with samples of its own, so that one of the tests
 * here fails without a cause in 1 of 10^12 runs.
 */
const deviate = 3.89
const comparisons = 3

const kinds = { hashed: 'anna', plain: 'bert', unknown: 'carl' }
type Kind = keyof typeof kinds

describe('the time of an answer to a wrong password', function () {
  this.timeout(60_000)
  const figures: string[] = []
  after(() => console.log(`figures: login timing: ${figures.join('; ')}`))

  for (const [one, other] of [
    ['hashed', 'unknown'],
    ['plain', 'unknown'],
    ['hashed', 'plain'],
  ] as const) {
    it(`is the same for ${kinds[one]} (${one}) and ${kinds[other]} (${other})`, async () => {
      await using server = await startLogin(createPasswordVerifier({ cost }))
      const deviates = await compare(server.connection, one, other)
      figures.push(`${one} and ${other} ${deviates.map((z) => z.toFixed(1)).join(', ')}`)
      expect(Math.min(...deviates.map(Math.abs)), 'deviate').to.be.lessThan(deviate)
    })
  }

  it('would detect a verifier that computes no decoy, by this very test', async () => {
    const verify = createPasswordVerifier({ cost })
    const leaky: PasswordVerifier = async (password, hash) =>
      hash !== undefined && verify(password, hash)
    await using server = await startLogin(leaky)
    const deviates = await compare(server.connection, 'hashed', 'unknown')
    figures.push(`without a decoy ${deviates.map((z) => z.toFixed(1)).join(', ')}`)
    expect(Math.min(...deviates)).to.be.greaterThan(deviate)
  })
})

describe('the answer to a wrong password', () => {
  it('is the same to the byte whoever is asked for, but for its date and its id', async () => {
    await using server = await startLogin(createPasswordVerifier({ cost }))
    const { connection } = server
    const raw = async (kind: Kind) => {
      await connection.send(requestHead('GET', '/list', guessAt(kind)))
      while (!connection.unread().includes('}')) await connection.arrival()
      const text = connection.unread().toString('latin1')
      await connection.answer()
      return text.replace(/^(date|x-request-id): .*$/gim, (line) => line.replace(/[0-9a-z]/gi, '#'))
    }
    const answers = [await raw('hashed'), await raw('plain'), await raw('unknown')]
    expect(answers[0])
      .to.match(/^HTTP\/1\.1 400 /)
      .and.to.include('"Invalid credentials"')
    expect(new Set(answers).size).to.equal(1)
  })
})

/** Deviates of up to three comparisons; no more once one finds nothing. */
async function compare(connection: Connection, one: Kind, other: Kind) {
  const deviates: number[] = []
  while (deviates.length < comparisons && Math.abs(deviates.at(-1) ?? Infinity) > deviate) {
    deviates.push(await compareOnce(connection, one, other))
  }
  return deviates
}

/** The normal deviate of what `one` takes longer than `other`, in logins that take turns in random order. */
async function compareOnce(connection: Connection, one: Kind, other: Kind): Promise<number> {
  const times: Record<Kind, number[]> = { hashed: [], plain: [], unknown: [] }
  for (let pair = 0; pair < samples; pair++) {
    const order = Math.random() < 0.5 ? [one, other] : [other, one]
    for (const kind of order) times[kind].push(await timeOf(connection, kind))
  }
  return mannWhitney(times[one], times[other])
}

async function timeOf(connection: Connection, kind: Kind): Promise<number> {
  const head = requestHead('GET', '/list', guessAt(kind))
  const begin = performance.now()
  await connection.send(head)
  const { status } = await connection.answer()
  const time = performance.now() - begin
  expect(status).to.equal(400)
  return time
}

function guessAt(kind: Kind) {
  return { 'x-auth-name': kinds[kind], 'x-auth-password': 'guess' }
}

/** A server without a brake, with two customers in a file, and a connection to it. */
async function startLogin(verifyPassword: PasswordVerifier) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-timing-'))
  const path = join(directory, 'customers.yaml')
  const hash = await hashPassword('correct horse', cost)
  const entries = [
    `{name: ${kinds.hashed}, password: "${hash}"}`,
    `{name: ${kinds.plain}, password: correct horse}`,
  ]
  await writeFile(path, `customers: [${entries.join(', ')}]\n`, { mode: 0o600 })
  const credentials = await openFileCredentialSource(path, { pollIntervalMs: 0 })
  const service = createFileService({ store: createMemoryBlobStore(), credentials, verifyPassword })
  const server = createHttpServer(createApp(service))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = await openConnection(port)
  return {
    connection,
    async [Symbol.asyncDispose]() {
      connection.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await credentials.close()
      await rm(directory, { recursive: true })
    },
  }
}
