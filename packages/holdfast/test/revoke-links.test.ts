import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import {
  credentials,
  customersYaml,
  createSite,
  runHoldfast,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast customers revoke-links', function () {
  this.timeout(60_000)
  let site: Site
  beforeEach(async () => {
    site = await createSite()
    await site.write('customers.yaml', customersYaml('demo', 'correct horse'))
  })
  afterEach(() => site.remove())

  const revoke = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runHoldfast(['customers', 'revoke-links', ...args], { cwd: site.path, env })

  /** Runs servers with these flags, ends the links while they run, and looks at an old and a new link. */
  async function expectEnded(
    servers: number,
    flags: readonly string[] = [],
    {
      own = flags,
      env = {},
    }: { own?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
  ) {
    const running: Awaited<ReturnType<typeof startHoldfast>>[] = []
    for (let count = 0; count < servers; count++) {
      running.push(await startHoldfast([...flags], { cwd: site.path, env }))
    }
    try {
      const [first] = running
      await fetch(`${first?.url}/upload/a`, {
        method: 'PUT',
        headers: credentials,
        body: 'content',
      })
      const linkBy = async () => {
        const answer = await fetch(`${first?.url}/link/a`, { method: 'POST', headers: credentials })
        const { url } = (await answer.json()) as { url: string }
        return new URL(url)
      }
      const statuses = async ({ pathname, search }: URL) => {
        const asked = running.map(async ({ url }) => (await fetch(url + pathname + search)).status)
        return Promise.all(asked)
      }
      const all = (status: number) => running.map(() => status)
      const before = await linkBy()
      expect(await statuses(before)).to.deep.equal(all(200))
      expect(await revoke([...own, 'demo'], env)).to.deep.equal({
        code: 0,
        stdout: '',
        stderr: 'All links that "demo" has made are ended.\n',
      })
      await delay(600)
      expect(await statuses(before)).to.deep.equal(all(403))
      expect(await statuses(await linkBy())).to.deep.equal(all(200))
    } finally {
      for (const server of running) await server.kill()
    }
  }

  it('ends the links of a customer on a running server', () => expectEnded(1))

  it('ends them on all workers', () => expectEnded(1, ['--workers', '2'], { own: [] }))

  it('ends them on all servers that share the directory', () => expectEnded(2))

  describeWithMinio('on MinIO', (minio) => {
    it('ends them on all servers that share the bucket', async () => {
      const bucket = await minio().createBucket()
      const flags = ['--store', 'minio', '--minio-endpoint', minio().endpoint]
      const env = minioEnvironment(minio(), bucket)
      await expectEnded(2, [...flags, '--minio-bucket', bucket], { env })
    })
  })

  it('keeps them ended after a restart', async () => {
    await expectEnded(1)
    await expectEnded(1)
  })

  it('says what is wrong, and ends nothing', async () => {
    await (await startHoldfast([], { cwd: site.path })).kill()
    for (const [args, message] of [
      [[], 'Say the name of the customer'],
      [['dmeo'], 'has no customer "dmeo"'],
      [['demo', '--data', 'elsewhere'], 'is not the data directory of a holdfast server'],
    ] as const) {
      const { code, stderr } = await revoke(args)
      expect(code).to.equal(1)
      expect(stderr).to.include(message)
    }
  })
})
