import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { describeFailureCounter } from '@holdfast/contract'
import { expect } from 'chai'
import { createSite, credentials, runHoldfast, type Site, startHoldfast } from '@holdfast/testing'
import { createLoginFailureCounter } from '../src/login-failure-counter.ts'

describe('createLoginFailureCounter', () => {
  describeFailureCounter('The counter of failed logins', async (windowMs) => ({
    counter: createLoginFailureCounter(windowMs),
    pass: async (milliseconds) => {
      await delay(milliseconds)
    },
    dispose: async () => {},
  }))

  it('has forgotten in time even where the process was too busy for its timers', async () => {
    const counter = createLoginFailureCounter(20)
    await counter.add('alice')
    const end = performance.now() + 40
    while (performance.now() < end);
    expect(await counter.read('alice')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
  })

  it('takes less than a KiB for a key however long, and nothing once it is forgotten', async () => {
    const module = new URL('../src/login-failure-counter.ts', import.meta.url).href
    const program = `
      import { setTimeout as delay } from 'node:timers/promises'
      import { createLoginFailureCounter } from ${JSON.stringify(module)}
      const counter = createLoginFailureCounter(6_000)
      const keys = 20_000
      const heap = () => {
        gc()
        return process.memoryUsage().heapUsed
      }
      const add = async (n) => {
        const key = 'name ' + n + 'x'.repeat(n % 2 ? 0 : 8_000)
        await counter.add(key)
        return (await counter.read(key)).failures
      }
      await add(0)
      const before = heap()
      for (let n = 1; n <= keys; n++) await add(n)
      const full = heap()
      const end = Date.now() + 40_000
      while (heap() - before > 2e6 && Date.now() < end) await delay(100)
      console.log(JSON.stringify({ each: (full - before) / keys, left: heap() - before }))`
    const args = ['--expose-gc', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 55_000 })
    const { each, left } = JSON.parse(stdout) as { each: number; left: number }
    expect(each, 'bytes for each key').to.be.within(50, 1024)
    expect(left, 'bytes left').to.be.lessThan(2e6)
  })

  it('distinguishes long and short keys from one another, and from their own digests', async () => {
    const counter = createLoginFailureCounter(60_000)
    const long = 'x'.repeat(65)
    await counter.add(long)
    const digest = createHash('sha256').update(long).digest('base64url')
    for (const other of [long.slice(1), `${long}x`, digest, `=${digest}`]) {
      expect((await counter.read(other)).failures, other).to.equal(0)
    }
    expect((await counter.read(long)).failures).to.equal(1)
  })

  it('does not keep the process alive', async () => {
    const module = new URL('../src/login-failure-counter.ts', import.meta.url).href
    const program = `
      import { createLoginFailureCounter } from ${JSON.stringify(module)}
      await createLoginFailureCounter(3_600_000).add('alice')`
    const args = ['--input-type=module', '--eval', program]
    await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  })
})

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
