import { createSite, credentials, runHoldfast, type Site, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve --login-failures-…', function () {
  this.timeout(60_000)
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  /** What logins from each address are answered, in a row; `!` stands for a right password. */
  async function messages(flags: readonly string[], logins: readonly (readonly string[])[]) {
    const server = await startHoldfast(['--trust-proxy', '127.0.0.1', ...flags], { cwd: site.path })
    try {
      const all: string[] = []
      for (const [address = '', name = 'demo', password = 'guess'] of logins) {
        const login = { 'x-auth-name': name, 'x-auth-password': password }
        const right = name === '!' ? credentials : login
        const answer = await fetch(`${server.url}/list`, {
          headers: { ...right, 'x-forwarded-for': address },
        })
        all.push(((await answer.json()) as { message: string }).message)
      }
      return all
    } finally {
      await server.kill()
    }
  }

  const wrong = 'Invalid credentials'
  const right = 'No files uploaded yet'
  const braked = 'Too many failed logins'

  it('sets how many failures of an address and of a name are too many', async () => {
    const address = ['--login-failures-per-address', '2']
    const ofAddress = [
      ['192.0.2.1', 'a'],
      ['192.0.2.1', 'b'],
      ['192.0.2.1', '!'],
      ['192.0.2.2', '!'],
    ]
    expect(await messages(address, ofAddress)).to.deep.equal([wrong, wrong, braked, right])
    const name = ['--login-failures-per-name', '1']
    const ofName = [['192.0.2.1'], ['192.0.2.1', '!'], ['192.0.2.2', '!']]
    expect(await messages(name, ofName)).to.deep.equal([wrong, braked, right])
  })

  for (const workers of ['1', '2']) {
    it(`lets an address that is exempt fail, and no other (workers: ${workers})`, async () => {
      const exempt = '192.0.2.0/24,2001:db8:1:2::/64'
      const flags = ['--login-failures-per-address', '1', '--login-failures-exempt', exempt]
      const logins = ['192.0.2.7', '2001:db8:1:2::5', '198.51.100.1', '2001:db8:1:3::5'].flatMap(
        (address) => [
          [address, 'a'],
          [address, 'b'],
          [address, '!'],
        ],
      )
      const isExempt = [wrong, wrong, right]
      const isNot = [wrong, braked, braked]
      expect(await messages([...flags, '--workers', workers], logins)).to.deep.equal(
        [isExempt, isExempt, isNot, isNot].flat(),
      )
    })
  }

  it('says when to come back by the window', async () => {
    const flags = ['--login-failures-per-address', '1', '--login-failures-window', '10h']
    const server = await startHoldfast(flags, { cwd: site.path })
    try {
      const headers = { ...credentials, 'x-auth-password': 'guess' }
      await (await fetch(`${server.url}/list`, { headers })).text()
      const answer = await fetch(`${server.url}/list`, { headers })
      expect(answer.status).to.equal(429)
      expect(Number(answer.headers.get('retry-after'))).to.be.within(9 * 3600, 10 * 3600)
    } finally {
      await server.kill()
    }
  })

  for (const [exempt, words] of [
    ['office', '"office" is not an address'],
    ['2001:db8::1', 'less than an IPv6 network of 64 bits'],
    ['10.0.0.0/33', '"10.0.0.0/33" is not an address'],
  ] as const) {
    it(`refuses ${exempt} for an exempt address`, async () => {
      const args = ['serve', '--port', '0', '--login-failures-exempt', exempt]
      const { code, stderr } = await runHoldfast(args, { cwd: site.path })
      expect(code).to.equal(1)
      expect(stderr).to.include('--login-failures-exempt').and.to.include(words)
    })
  }
})
