import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { createSite, credentials, runHoldfast, type Site, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve --trust-proxy', function () {
  // Thirty hashes, on a machine that may be busy.
  this.timeout(60_000)
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  /** How 31 wrong passwords from one client of a proxy end, and what another client of it is told. */
  async function attack(args: readonly string[]) {
    const server = await startHoldfast(args, { cwd: site.path })
    const list = async (address: string, password: string) => {
      const headers = {
        'x-auth-name': credentials['x-auth-name'],
        'x-auth-password': password,
        'x-forwarded-for': address,
      }
      return (await fetch(`${server.url}/list`, { headers })).json() as Promise<{ message: string }>
    }
    try {
      // Each with a name of its own, so that it is the address that is refused and not the name.
      for (let count = 0; count < 30; count++) {
        const headers = { 'x-auth-name': `${count}`, 'x-auth-password': 'x' }
        const forwarded = { ...headers, 'x-forwarded-for': '203.0.113.9' }
        await (await fetch(`${server.url}/list`, { headers: forwarded })).text()
      }
      const attacker = await list('203.0.113.9', 'x')
      const customer = await list('203.0.113.10', credentials['x-auth-password'])
      await server.logged('request', 32)
      const addresses = server.lines().map(({ address }) => address)
      return { attacker: attacker.message, customer: customer.message, addresses }
    } finally {
      await server.kill()
    }
  }

  it('distinguishes the clients of a proxy, for the brake on bad logins and in the log', async () => {
    const { attacker, customer, addresses } = await attack([
      '--trust-proxy',
      '10.0.0.0/8,127.0.0.1',
    ])
    expect(attacker).to.equal('Too many failed logins')
    expect(customer).to.equal('No files uploaded yet')
    expect(addresses).to.include('203.0.113.9').and.to.include('203.0.113.10')
  })

  it('takes all for one without it, since any client could invent the header', async () => {
    const { attacker, customer, addresses } = await attack([])
    expect(attacker).to.equal('Too many failed logins')
    expect(customer).to.equal('Too many failed logins')
    expect(addresses).to.include('127.0.0.1').and.not.to.include('203.0.113.9')
  })

  it('counts an IPv6 network as one address', async () => {
    const server = await startHoldfast(['--trust-proxy', '127.0.0.1'], { cwd: site.path })
    try {
      const messages: string[] = []
      for (let n = 0; n < 12; n++) {
        messages.push(await guess(server.url, ['x-forwarded-for', `2001:db8:1:2:${n}::${n}`]))
      }
      expect(messages[9]).to.equal('Invalid credentials')
      expect(messages.slice(10)).to.deep.equal(Array(2).fill('Too many failed logins'))
      expect(await guess(server.url, ['x-forwarded-for', '2001:db8:1:3::1'])).to.equal(
        'Invalid credentials',
      )
      await server.logged('request', 13)
      expect(server.lines().map(({ address }) => address)).to.include('2001:db8:1:2:3::3')
    } finally {
      await server.kill()
    }
  })

  it('distinguishes clients whose addresses the proxy sends with ports', async () => {
    const server = await startHoldfast(['--trust-proxy', '127.0.0.1'], { cwd: site.path })
    try {
      const messages: string[] = []
      for (let n = 0; n < 12; n++) {
        messages.push(await guess(server.url, ['x-forwarded-for', `198.51.100.5:${40_000 + n}`]))
      }
      expect(messages.at(-1)).to.equal('Too many failed logins')
      const other = await guess(server.url, ['x-forwarded-for', '[2001:db8::7]:443'])
      expect(other).to.equal('Invalid credentials')
      await server.logged('request', 13)
      const addresses = server.lines().flatMap(({ address }) => address ?? [])
      expect(new Set(addresses)).to.deep.equal(new Set(['198.51.100.5', '2001:db8::7']))
    } finally {
      await server.kill()
    }
  })

  it('believes no stranger, whatever the header says, how often and how long', async () => {
    const server = await startHoldfast(['--trust-proxy', '10.0.0.0/8'], { cwd: site.path })
    try {
      const inventions = Array.from({ length: 12 }, (_, n) => [
        ['x-forwarded-for', `203.0.113.${n}`],
        ['X-Forwarded-For', `10.0.0.1, 203.0.113.${n}, 10.0.0.${n}`],
        ['x-forwarded-for', `${'203.0.113.7, '.repeat(100 * n)}10.0.0.9`],
        ['forwarded', `for=203.0.113.${n}`],
        ['x-real-ip', `203.0.113.${n}`],
      ])
      const messages: string[] = []
      for (const headers of inventions) messages.push(await guess(server.url, headers.flat()))
      expect(messages[9]).to.equal('Invalid credentials')
      expect(messages.slice(10)).to.deep.equal(Array(2).fill('Too many failed logins'))
      await server.logged('request', 12)
      const addresses = server.lines().flatMap(({ address }) => address ?? [])
      expect(new Set(addresses)).to.deep.equal(new Set(['127.0.0.1']))
    } finally {
      await server.kill()
    }
  })

  it('says what is wrong with it', async () => {
    const args = ['serve', '--port', '0', '--trust-proxy', 'proxy.example']
    const { code, stderr } = await runHoldfast(args, { cwd: site.path })
    expect(stderr).to.include('--trust-proxy').and.to.include('"proxy.example" is not an address')
    expect(code).to.equal(1)
  })
})

/** What a wrong password for one name is told, sent with more headers: names and values in turn. */
async function guess(url: string, more: readonly string[]): Promise<string> {
  const login = ['host', new URL(url).host, 'x-auth-name', 'demo', 'x-auth-password', 'guess']
  const request = get(`${url}/list`, { headers: [...login, ...more] })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return ((await json(response)) as { message: string }).message
}
