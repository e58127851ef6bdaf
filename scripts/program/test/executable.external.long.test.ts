import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { describeWithContainers } from '../../../packages/testing/src/minio/describe-with-minio.ts'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { ownershipLabels } from '../../../packages/testing/src/minio/engine.ts'
import { docker } from '../../../packages/system-tests/test/containers/support/docker.ts'
import { ownName } from '../../../packages/system-tests/test/containers/support/product-image.ts'
import { hardening } from '../../../packages/system-tests/test/containers/support/start-container.ts'
import { credentials } from '../../../packages/testing/src/site.ts'
import { useHoldfast, runHoldfast } from '../../../packages/testing/src/holdfast.ts'
import { until } from '../../../packages/testing/src/until.ts'
import manifest from '../../../packages/holdfast/package.json' with { type: 'json' }
import { makeEmptyImage } from './empty-image.ts'
import { executableFile } from './executable-file.ts'

const labels = Object.entries(ownershipLabels).flatMap(([key, value]) => [
  '--label',
  `${key}=${value}`,
])
const text = 'One file, and all in it.'

describeWithContainers('The single executable, in a container with nothing else', (suite) => {
  suite.timeout(120_000)
  const name = ownName()
  let url: string

  /** Runs the command in a container of its own, on the same volume. */
  const holdfast = (args: readonly string[], input = '') =>
    docker(
      [
        'run',
        '--rm',
        '--interactive',
        ...labels,
        ...hardening,
        '--volume',
        `${name}:/work`,
        name,
        ...args,
      ],
      input,
    )

  before('starts a server of two processes', async function () {
    this.timeout(300_000)
    await makeEmptyImage(await executableFile(), name)
    await docker(['volume', 'create', ...labels, name])
    await holdfast(['customers', 'add', 'demo', '--password-stdin'], credentials['x-auth-password'])
    const port = await findFreePort()
    url = `http://127.0.0.1:${port}`
    const published = ['--publish', `127.0.0.1:${port}:3000`]
    const run = ['run', '--detach', '--name', name, ...labels, ...hardening, ...published]
    const serve = ['serve', '--host', '0.0.0.0', '--workers', '2', '--admin-port', '3001']
    await docker([...run, '--volume', `${name}:/work`, name, ...serve])
    const listens = async () => (await docker(['logs', name])).includes('holdfast listens on')
    await until('the server listens', listens, 60_000)
  })
  after('removes all of it', async () => {
    await docker(['rm', '--force', '--volumes', name])
    await docker(['volume', 'rm', '--force', name])
    await docker(['image', 'rm', '--force', name])
  })

  it('says its version', async () => {
    expect(await holdfast(['--version'])).to.equal(`${manifest.version}\n`)
  })

  it('stores a file and serves it, to several at once', async () => {
    const put = { method: 'PUT', headers: credentials, body: text }
    expect(await (await fetch(`${url}/upload/a.txt`, put)).text()).to.equal('OK')
    const get = async () => (await fetch(`${url}/serve/a.txt`, { headers: credentials })).text()
    expect(await Promise.all([get(), get(), get(), get()])).to.deep.equal(Array(4).fill(text))
  })

  it('has the page in it, with its scripts and styles', async () => {
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const paths = [...page.matchAll(/(?:src|href)="(?:\.?\/)?(assets\/[^"]+\.(?:js|css))"/g)]
    expect(paths.length).to.be.greaterThan(1)
    for (const [, path] of paths) {
      expect((await fetch(`${url}/${path}`)).status, path).to.equal(200)
    }
  })

  it('is a client of itself', async () => {
    const login = { URL: 'http://127.0.0.1:3000', NAME: 'demo', PASSWORD: 'correct horse' }
    const settings = Object.entries(login).map(([key, value]) => `HOLDFAST_${key}=${value}`)
    const env = settings.flatMap((setting) => ['--env', setting])
    const exec = ['exec', '--interactive', ...env, name, '/holdfast']
    await docker([...exec, 'put', '-', '--as', 'b.txt'], text)
    expect(await docker([...exec, 'ls', 'b'])).to.equal('b.txt\n')
    await docker([...exec, 'get', 'b.txt', '-o', 'got.txt'])
    await docker([...exec, 'put', 'got.txt'])
    expect(await docker([...exec, 'cat', 'got.txt'])).to.equal(text)
  })

  it('copies a store', async () => {
    await holdfast(['copy', '--from', 'disk', '--to', 'disk', '--to-data', 'copy', '--verify'])
    expect(await holdfast(['usage', '--data', 'copy'])).to.match(/ demo$/m)
  })

  it('finds out what is wrong', async () => {
    expect(await holdfast(['doctor'])).to.include('ok')
  })
})

describe('The single executable', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  let program: string
  before(async function () {
    this.timeout(300_000)
    program = await executableFile()
  })

  it('says in the metrics which version it is', async () => {
    const server = await holdfast.start(['--admin-port', '0'], { program })
    const { admin } = await server.logged('holdfast listens on ')
    const metrics = await fetch(`${String(admin)}/metrics`)
    expect(await metrics.text()).to.include(`holdfast_build_info{version="${manifest.version}"} 1`)
  })

  it('hashes passwords in threads of their own', async () => {
    const cwd = holdfast.site.path
    const add = ['customers', 'add', 'zoe', '--password-stdin']
    const added = await runHoldfast(add, { cwd, program, input: 'the password of zoe' })
    expect(added.code, added.stderr).to.equal(0)
    const server = await holdfast.start([], { program })
    const logins = Array.from({ length: 6 }, async (_, place) => {
      const headers = { 'x-auth-name': 'zoe', 'x-auth-password': `not the password ${place}` }
      return (await fetch(`${server.url}/list`, { headers })).status
    })
    expect(await Promise.all(logins)).to.deep.equal(Array(6).fill(400))
    // They stay for half a minute.
    expect(await threadsOf(server.pid)).to.include('holdfast-scrypt')
  })
})

/** The names of the threads of a process. */
async function threadsOf(pid: number): Promise<string[]> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const names = tasks.map((task) => readFile(`/proc/${pid}/task/${task}/comm`, 'utf8'))
  return (await Promise.all(names)).map((name) => name.trim())
}
