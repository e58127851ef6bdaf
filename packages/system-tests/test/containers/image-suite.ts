import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWithContainers } from '@holdfast/testing/minio'
import { credentials, customersYaml, openConnection, until, uploadHead } from '@holdfast/testing'
import { expect } from 'chai'
import { docker } from './support/docker.ts'
import { buildLimitMs, buildProductImage } from './support/product-image.ts'
import { hardening, startContainer, type Container } from './support/start-container.ts'

describeWithContainers('The image of the Dockerfile', (suite) => {
  suite.timeout(120_000)
  let image: string
  before(async function () {
    this.timeout(buildLimitMs)
    image = await buildProductImage()
  })

  /** What a script that Node.js runs in a container of its own prints, as JSON. */
  const ask = async (script: string): Promise<unknown> => {
    const eval_ = ['--eval', `console.log(JSON.stringify(${script}))`]
    return JSON.parse(await docker(['run', '--rm', '--entrypoint', 'node', image, ...eval_]))
  }

  it('takes less than 200 MB', async () => {
    const [size] = JSON.parse(
      await docker(['image', 'inspect', '--format', '[{{.Size}}]', image]),
    ) as [number]
    expect(size).to.be.above(50e6).and.below(200e6)
  })

  it('has what the server needs at work, and nothing that builds or tests it', async () => {
    const modules = (await ask(
      "fs.readdirSync('/usr/local/lib/holdfast/node_modules/.pnpm').map((name) => name.replace(/(.)@.*/, '$1').replace('+', '/'))",
    )) as string[]
    expect(modules).to.include.members(['@holdfast/core', 'koa', '@aws-sdk/client-s3'])
    const tools = ['typescript', 'mocha', 'chai', 'oxlint', 'oxfmt', 'node', 'testcontainers']
    const others = [...tools, '@holdfast/contract', '@holdfast/testing']
    expect(modules.filter((name) => others.includes(name))).to.deep.equal([])
    const shells = "['/bin/sh', '/usr/bin/env', '/usr/local/bin/npm'].filter(fs.existsSync)"
    expect(await ask(shells)).to.deep.equal([])
  })

  it('is of a user without a name, to whom only the volume belongs', async () => {
    const user = '[process.getuid(), process.getgid(), process.cwd()]'
    expect(await ask(user)).to.deep.equal([65_532, 65_532, '/var/lib/holdfast'])
    const writable = `['/', '/usr/local/lib/holdfast', '.'].filter((path) => {
      try { fs.accessSync(path, fs.constants.W_OK); return true } catch { return false }
    })`
    expect(await ask(writable)).to.deep.equal(['.'])
  })

  describe('as a container that may do nothing but serve', () => {
    let container: Container
    before(async () => {
      const health = ['--health-interval', '1s', '--health-timeout', '3s', '--health-retries', '1']
      container = await startContainer(image, health)
    })
    after(() => container.remove())

    const health = async () =>
      (await docker(['inspect', '--format', '{{.State.Health.Status}}', container.name])).trim()

    it('serves, and is healthy', async () => {
      const url = `http://127.0.0.1:${container.port}`
      const body = 'Hello, container'
      const put = { method: 'PUT', headers: credentials, body }
      expect(await (await fetch(`${url}/upload/a.txt`, put)).text()).to.equal('OK')
      const served = await fetch(`${url}/serve/a.txt`, { headers: credentials })
      expect(await served.text()).to.equal(body)
      await until('it is healthy', async () => (await health()) === 'healthy', 60_000)
    })

    it('is not healthy when it does not answer', async () => {
      await docker(['kill', '--signal', 'STOP', container.name])
      await until('it is not', async () => (await health()) === 'unhealthy', 60_000)
      await docker(['kill', '--signal', 'CONT', container.name])
      await until('it is again', async () => (await health()) === 'healthy', 60_000)
    })

    it('lets uploads finish after SIGTERM, and ends', async () => {
      const connection = await openConnection(container.port)
      connection.write(uploadHead('late.txt', 4, ['Expect: 100-continue']))
      await connection.saw('100 Continue')
      await docker(['kill', '--signal', 'TERM', container.name])
      await container.said('finishing the requests under way')
      connection.write('late')
      await connection.saw('\r\n\r\nOK')
      expect(await docker(['wait', container.name])).to.equal('0\n')
      expect(await container.logs()).to.include('"msg":"stopped"')
    })
  })

  it('says whose the volume is when it may not write there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-volume-'))
    await chmod(folder, 0o755)
    try {
      await writeFile(join(folder, 'customers.yaml'), customersYaml('demo', 'correct horse'))
      await chmod(join(folder, 'customers.yaml'), 0o644)
      const run = ['run', '--rm', ...hardening, '--volume', `${folder}:/var/lib/holdfast`, image]
      const refusal = await docker(run).catch((error: unknown) => error)
      expect(refusal).to.include({ code: 1 })
      expect((refusal as { stderr: string }).stderr).to.include(
        `holdfast: The data directory ./data cannot be used (uid 65532, gid 65532 may not write to /var/lib/holdfast, which belongs to uid ${process.getuid?.()}, gid ${process.getgid?.()} and has mode 0755): `,
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
