import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import {
  describeWithContainers,
  startMinio,
  type OwnMinio,
  minioKeys,
} from '@holdfast/testing/minio'
import { makeCertificate } from '@holdfast/testing'
import { type RunningRedis, startRedis } from '@holdfast/testing/redis'
import { createSite, type HoldfastServer, type Site, startHoldfastByShell } from '@holdfast/testing'
import { expect } from 'chai'
import { fencedBlocks } from './documented-steps.ts'
import { documents, shellBlocks, textOf } from './shell-blocks.ts'
import { claims } from './who-runs.ts'

const here = 'packages/system-tests/test/docs/server-commands.test.ts'
const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** The commands of a block that is ours to run, each with the variables that the block exports. */
function commandsIn(script: string): readonly string[] {
  const lines = script
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n')
  const exports = lines.filter((line) => line.startsWith('export '))
  return lines
    .filter((line) => !exports.includes(line))
    .map((line) => [...exports, line].join('\n'))
}

const commands = documents()
  .flatMap(shellBlocks)
  .filter(({ document, script }) => {
    const claim = claims.find((one) => one.document.test(document) && one.shell.test(script))
    return claim?.by === here
  })
  .flatMap(({ document, line, script }) =>
    commandsIn(script).map((command) => ({
      command,
      title: `${document}, line ${line}: ${command}`,
    })),
  )

const starting = commands.filter(({ command }) => !command.includes(' | '))
const withMinio = starting.filter(({ command }) => command.includes('--store minio'))
const onDisk = starting.filter(({ command }) => !withMinio.some((one) => one.command === command))

/** On this machine, and on a free port: what else a command says, stays. */
function atHome(command: string, site: Site, minio?: OwnMinio, redis?: RunningRedis): string {
  const endpoint = minio?.endpoint ?? ''
  return command
    .replaceAll(/\/(etc|run|var\/log)\/(holdfast|secrets)\//g, `${site.path}/`)
    .replaceAll(/0\.0\.0\.0|\b10\.0\.0\.11\b/g, '127.0.0.1')
    .replaceAll(/(--port |HOLDFAST_PORT=)\d+/g, '$10')
    .replaceAll(/https?:\/\/(minio\.example\.com|127\.0\.0\.1|10\.0\.0\.10):9000/g, endpoint)
    .replaceAll('redis://10.0.0.20:6379', redis?.url ?? '')
    .replaceAll('ACCESS_KEY=holdfast', `ACCESS_KEY=${minio?.accessKey ?? ''}`)
    .replaceAll('scripts/start', 'exec scripts/start')
}

describe('The commands in the documents that start a server', () => {
  let site: Site
  let server: HoldfastServer | undefined
  beforeEach(async () => {
    site = await createSite()
    await mkdir(join(site.path, 'scripts'))
    await symlink(join(root, 'scripts/start'), join(site.path, 'scripts/start'))
  })
  afterEach(async () => {
    await server?.kill()
    server = undefined
    await site.remove()
  })

  /** Runs `command` where the documents have the reader be, and expects it to serve and to end well. */
  const expectToServe = async (
    command: string,
    env: Readonly<Record<string, string>>,
    minio?: OwnMinio,
    redis?: RunningRedis,
  ) => {
    const [yaml = ''] = fencedBlocks(textOf('docs/configuration.md'), 'yaml')
    const file = yaml.replace(/^port: \d+$/m, 'port: 0')
    expect(file).not.to.equal(yaml)
    await site.write('holdfast.yaml', file)
    const { certificate, privateKey } = await makeCertificate({ days: 90 })
    await site.write('cert.pem', certificate)
    await site.write('key.pem', privateKey)
    server = await startHoldfastByShell(atHome(command, site, minio, redis), {
      cwd: site.path,
      env,
    })
    if (command.includes('--tls-cert')) {
      expect(server.url).to.match(/^https:/)
    } else {
      expect(await (await fetch(`${server.url}/ping`)).text()).to.equal('pong')
    }
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
  }

  it('are found', () => {
    expect(onDisk).to.have.length.above(4)
    expect(withMinio).to.have.length(3)
  })

  for (const { command, title } of onDisk) {
    it(`serve: ${title}`, async function () {
      this.timeout(60_000)
      // What a command does not say is its default, but for the port, which may be taken.
      await expectToServe(command, { HOLDFAST_PORT: '0' })
    })
  }

  it('take a password of one’s own from another program', async function () {
    this.timeout(60_000)
    const [piped, ...others] = commands.filter(({ command }) => command.includes(' | '))
    expect(others).to.deep.equal([])
    const script = `pass() { echo "the password of $2"; }\n${piped?.command ?? ''}`
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: site.path })
    const customers = await readFile(join(site.path, 'customers.yaml'), 'utf8')
    expect(customers).to.match(/name: alice\n +password: \$scrypt\$/)
  })

  describeWithContainers('with MinIO', () => {
    for (const { command, title } of withMinio) {
      it(`serve: ${title}`, async function () {
        this.timeout(60_000)
        const minio = await startMinio({ tls: command.includes('https://') })
        const redis = command.includes('--shared-url')
          ? await startRedis(['--requirepass', 'of-valkey'])
          : undefined
        try {
          await site.write('valkey', 'of-valkey\n')
          const bucket = command.includes('create-bucket') ? 'new' : await minio.createBucket()
          await site.write('minio', minio.secretKey)
          await site.write('ca.pem', minio.certificate ?? '')
          const keys = minioKeys(minio)
          const own = command.includes('SECRET_KEY')
          const mine = command.replace('--minio-bucket files', `--minio-bucket ${bucket}`)
          await expectToServe(mine, { HOLDFAST_PORT: '0', ...(own ? {} : keys) }, minio, redis)
        } finally {
          await redis?.stop()
          await minio.stop()
        }
      })
    }
  })
})
