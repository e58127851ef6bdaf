import { useHoldfast, runHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

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
