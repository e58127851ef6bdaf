import { Agent, get, type IncomingMessage } from 'node:http'
import { credentials, type HoldfastServer, until, useHoldfast, scrape } from '@holdfast/testing'
import { expect } from 'chai'

const addresses = 20
const guessesOfEach = 24

/** Resolves with the status, and whether the answer has `Retry-After`. */
function ask(url: string, headers: object, agent?: Agent): Promise<readonly [number, boolean]> {
  return new Promise((resolve, reject) => {
    get(`${url}/list`, { headers: { ...headers }, agent }, (answer: IncomingMessage) => {
      answer.resume().on('end', () => {
        resolve([answer.statusCode ?? 0, answer.headers['retry-after'] !== undefined])
      })
    }).on('error', reject)
  })
}

describe('Strangers whose logins wait', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  let server: HoldfastServer

  const customer = { ...credentials, 'x-forwarded-for': '192.0.2.1' }
  const stranger = (address: number, guess: number) => ({
    'x-auth-name': `nobody-${address}-${guess}`,
    'x-auth-password': 'guess',
    'x-forwarded-for': `198.51.100.${address}`,
  })

  for (const workers of ['1', '2']) {
    it(`take no place of a customer who is logged in (workers: ${workers})`, async () => {
      const flags = ['--trust-proxy', '127.0.0.1', '--max-requests', '20', '--workers', workers]
      server = await holdfast.start([...flags, '--admin-port', '0'])
      const connections = Array.from({ length: 8 }, () => new Agent({ keepAlive: true }))
      const asCustomer = () =>
        Promise.all(connections.map(async (agent) => (await ask(server.url, customer, agent))[0]))
      // Each worker has to know the password.
      for (let round = 0; round < 3; round++) {
        expect(await asCustomer()).to.deep.equal(connections.map(() => 400))
      }
      const agent = new Agent({ maxSockets: Infinity })
      const answers: (readonly [number, boolean])[] = []
      for (let n = 0; n < addresses * guessesOfEach; n++) {
        // Those that still wait at the end are cut off.
        ask(server.url, stranger(n % addresses, n), agent).then(
          (answer) => answers.push(answer),
          () => {},
        )
      }
      await until('many passwords wait', async () => {
        const waiting = (await scrape(server)).value('holdfast_password_checks_under_way')
        return Number(waiting) > 15
      })
      for (let round = 0; round < 10; round++) {
        expect(await asCustomer()).to.deep.equal(connections.map(() => 400))
      }
      agent.destroy()
      expect(answers).not.to.be.empty
      for (const [status, hasRetryAfter] of answers) {
        expect(status).to.be.oneOf([400, 429, 503])
        expect(hasRetryAfter).to.equal(status !== 400)
      }
      for (const each of connections) each.destroy()
    })
  }
})
