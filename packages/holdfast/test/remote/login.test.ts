import { chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runHoldfast, useHoldfast, type HoldfastOptions } from '@holdfast/testing'
import { expect } from 'chai'
import { runOnTerminal } from '../terminal/support/run-on-terminal.ts'

describe('holdfast login', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  const run = (args: readonly string[], options: Partial<HoldfastOptions> = {}) =>
    runHoldfast(args, {
      cwd: site.path,
      ...options,
      env: { HOME: site.path, XDG_CONFIG_HOME: join(site.path, 'config'), ...options.env },
    })
  const login = (url: string, input = 'correct horse\n') =>
    run(['login', url, '--name', 'demo', '--password-stdin'], { input })
  const profile = () => join(site.path, 'config/holdfast/profile.json')

  it('keeps what the server has accepted, for its owner only', async () => {
    const { url } = await holdfast.start()
    expect(await login(url)).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: `Logged in to ${url}/ as "demo".\n`,
    })
    expect((await stat(profile())).mode & 0o777).to.equal(0o600)
    expect((await stat(join(profile(), '..'))).mode & 0o777).to.equal(0o700)
    expect(await readdir(join(profile(), '..'))).to.deep.equal(['profile.json'])
  })

  it('keeps logins of several servers by name', async () => {
    const { url } = await holdfast.start()
    const args = ['login', url, '--name', 'demo', '--password-stdin', '--profile', 'work']
    expect((await run(args, { input: 'correct horse\n' })).stderr).to.equal(
      `Logged in to ${url}/ as "demo", in the profile "work".\n`,
    )
    const whoami = `demo at ${url}/ (profile work) may do everything\n`
    expect((await run(['whoami', '--profile', 'work'])).stdout).to.equal(whoami)
    const env = { HOLDFAST_PROFILE: 'work' }
    expect(await run(['whoami'], { env })).to.deep.equal({ code: 0, stdout: whoami, stderr: '' })
    expect((await run(['whoami'])).code).to.equal(3)
    const both = await run(['whoami'], { env: { ...env, HOLDFAST_URL: url } })
    expect(both.stderr).to.include('HOLDFAST_PROFILE and HOLDFAST_URL are both set')
    const other = await run(['whoami', '--profile', 'home'])
    expect(other.code).to.equal(3)
    expect(other.stderr).to.include('Those saved are work')
    expect((await run(['whoami', '--profile', '../x'])).code).to.equal(2)
    expect((await run(['logout', '--profile', 'work'])).stderr).to.equal(
      'Deleted the login of the profile "work".\n',
    )
    expect((await run(['whoami', '--profile', 'work'])).code).to.equal(3)
  })

  it('asks on a terminal for all that is missing', async () => {
    const { url } = await holdfast.start()
    const answers = [
      ['Server: ', `${url}\r`],
      ['Name: ', 'demo\r'],
      ['Password: ', 'correct horse\r'],
    ] as const
    const env = { HOME: site.path, XDG_CONFIG_HOME: join(site.path, 'config') }
    const { code, shown } = await runOnTerminal(['login'], answers, { cwd: site.path, env })
    expect(code).to.equal(0)
    expect(shown).to.include(`Logged in to ${url}/ as "demo".`)
    expect(shown).to.not.include('correct horse')
  })

  it('keeps nothing that the server refuses, and ends with 3', async () => {
    const { url } = await holdfast.start()
    const { code, stderr } = await login(url, 'wrong')
    expect({ code, stderr }).to.deep.equal({
      code: 3,
      stderr: `holdfast: The login at ${url}/ failed: Invalid credentials. Check the name and the password.\n`,
    })
    expect(await readdir(site.path)).not.to.include('config')
  })

  it('ends with 5 where no server is', async () => {
    const server = await holdfast.start()
    await server.kill()
    const { code, stderr } = await login(server.url)
    expect({ code, stderr }).to.deep.include({ code: 5 })
    expect(stderr).to.match(/^holdfast: The login at http:\S+ failed: No answer: /)
  })

  for (const [host, isWarned] of [
    ['127.holdfast.invalid:1', true],
    ['127.0.0.2:1', false],
    ['localhost:1', false],
  ] as const) {
    it(`${isWarned ? 'warns' : 'does not warn'} of plain text on the way to ${host}`, async () => {
      const args = ['login', `http://${host}`, '--name', 'demo', '--password-stdin']
      const { stderr } = await run(args, { input: 'correct horse' })
      expect(stderr.includes('The password goes over the network as plain text')).to.equal(isWarned)
    })
  }

  it('says what it has done as JSON', async () => {
    const { url } = await holdfast.start()
    const args = ['login', `${url}/?a#b`, '--name', 'demo', '--password-stdin', '--json']
    const { stdout, stderr } = await run(args, { input: 'correct horse' })
    expect(stderr).to.equal('')
    expect(JSON.parse(stdout)).to.deep.equal({ url: `${url}/`, name: 'demo', profile: profile() })
    const { stdout: out } = await run(['logout', '--json'])
    expect(JSON.parse(out)).to.deep.equal({ profile: profile(), removed: true })
  })

  it('is undone by logout', async () => {
    const { url } = await holdfast.start()
    await login(url)
    expect(await run(['logout'])).to.deep.equal({ code: 0, stdout: '', stderr: 'Logged out.\n' })
    expect((await run(['logout'])).stderr).to.equal('There was no login.\n')
    expect(await readdir(join(profile(), '..'))).to.deep.equal([])
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [['login'], 'Say the address of one server'],
    [['login', 'http://a', 'http://b'], 'Unknown argument: http://b'],
    [['login', 'files.example.com'], '"files.example.com" is not the address of a server'],
    [['login', 'ftp://a'], '"ftp://a" is not the address of a server'],
    [['login', 'https://zoe:secret@a'], 'The address has credentials in it'],
    [['login', 'https://a'], 'Say the customer with --name'],
    [['login', 'https://a', '--name', 'zoe'], 'Give the password with --password-stdin'],
    [['login', 'https://a', '--name', ''], 'The name "" is empty'],
    [['login', 'https://a', '--name', 'a', '--password-stdin'], 'Standard input holds no password'],
    [['login', 'https://a', '--password', 'x'], 'use --password-stdin'],
    [['login', 'https://a', '--nam', 'x'], 'Did you mean --name?'],
    [['logout', '--name', 'x'], '--name belongs to another command'],
  ]
  for (const [args, message] of mistakes) {
    it(`refuses "${args.join(' ')}" with 2`, async () => {
      const { code, stdout, stderr } = await run(args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.match(/^holdfast: /)
      expect(stderr).to.include(message)
      expect(stderr).not.to.match(/secret|^\s+at |unexpected/m)
    })
  }

  it('refuses no variable of a client at a server', async () => {
    const env = { HOLDFAST_URL: 'http://a', HOLDFAST_NAME: 'b', HOLDFAST_PASSWORD: 'c' }
    const server = await holdfast.start([], { env })
    expect(server.output()).not.to.include('is not a setting')
  })

  it('leaves a profile alone that others may read', async () => {
    const { url } = await holdfast.start()
    await login(url)
    await chmod(profile(), 0o640)
    await writeFile(profile(), '{}')
    // It keeps a new one all the same.
    expect((await login(url)).code).to.equal(0)
    expect((await stat(profile())).mode & 0o777).to.equal(0o600)
  })
})

describe('holdfast whoami', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()

  async function start() {
    const { site } = holdfast
    const password = 'correct horse'
    const run = (args: readonly string[], more: object = {}) =>
      runHoldfast(args, { cwd: site.path, env: { HOME: site.path }, ...more })
    const add = (login: string, may: string) =>
      run(['customers', 'add', 'demo', '--login', login, '--may', may, '--password-stdin'], {
        input: `${password}\n`,
      })
    await add('reader', 'read-only')
    await add('dropper', 'drop-box')
    const { url } = await holdfast.start()
    const whoami = (name: string, ...args: readonly string[]) => {
      const env = { HOME: site.path, HOLDFAST_URL: url, HOLDFAST_NAME: name }
      return run(['whoami', ...args], { env: { ...env, HOLDFAST_PASSWORD: password } })
    }
    return { url, run, whoami, password }
  }

  it('shows the server, the name and the rights', async () => {
    const { url, whoami } = await start()
    expect(await whoami('demo')).to.deep.equal({
      code: 0,
      stdout: `demo at ${url} may do everything\n`,
      stderr: '',
    })
    expect((await whoami('demo/reader')).stdout).to.equal(
      `demo/reader at ${url} may do this: list, read\n`,
    )
    expect((await whoami('demo/dropper')).stdout).to.equal(`demo/dropper at ${url} may not list\n`)
    const lines = await Promise.all(
      ['demo', 'demo/reader', 'demo/dropper'].map((name) => whoami(name, '--json')),
    )
    expect(lines.map(({ stdout }) => JSON.parse(stdout) as object)).to.deep.equal([
      { url, name: 'demo', may: 'full' },
      { url, name: 'demo/reader', may: ['list', 'read'] },
      { url, name: 'demo/dropper', may: null },
    ])
  })

  it('ends with 3 for a login that is not good any more', async () => {
    const { whoami } = await start()
    expect((await whoami('demo/gone')).code).to.equal(3)
  })

  it('knows a login that may only add, which login has kept', async () => {
    const { url, run, password } = await start()
    const args = ['login', url, '--name', 'demo/dropper', '--password-stdin']
    const { code, stderr } = await run(args, { input: `${password}\n` })
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: `Logged in to ${url}/ as "demo/dropper".\n`,
    })
    expect((await run(['whoami'])).stdout).to.equal(`demo/dropper at ${url}/ may not list\n`)
  })
})
