import { Agent, get } from 'node:http'
import { credentials, type HoldfastServer, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('A thousand first logins of one customer from one address at once', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  let server: HoldfastServer

  /** How many requests got which status; the list of a customer without files is 400. */
  async function crowd(headers: object): Promise<Record<number, number>> {
    const agent = new Agent({ maxSockets: Infinity })
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, () => statusOf(`${server.url}/list`, headers, agent)),
    )
    const counts: Record<number, number> = {}
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  // What is counted here is logins; requests that have logged in have limits of their own.
  const flags = ['--max-requests', '2000', '--max-requests-per-customer', '2000']

  for (const workers of ['1', '2']) {
    it(`all get in (workers: ${workers})`, async () => {
      server = await holdfast.start([...flags, '--workers', workers])
      expect(await crowd(credentials)).to.deep.equal({ 400: 1000 })
    })
  }

  it('are ten guesses and no more when the password is wrong, whoever exists', async () => {
    for (const name of [credentials['x-auth-name'], 'stranger']) {
      server = await holdfast.start(flags)
      const guess = { 'x-auth-name': name, 'x-auth-password': 'guess' }
      expect(await crowd(guess)).to.deep.equal({ 400: 10, 429: 990 })
      await server.kill()
    }
  })
})

function statusOf(url: string, headers: object, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { ...headers }, agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    }).on('error', reject)
  })
}
